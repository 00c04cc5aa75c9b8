import { DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSubject, createTable, key, put, type Subject, stored, TABLE } from './harness.ts';

const NOW = Date.UTC(2026, 0, 1);
const NOW_SECONDS = NOW / 1000;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

describe('time to live', () => {
  let subject: Subject;

  const setTtl = (Enabled: boolean, AttributeName = 'ttl') =>
    subject.client.send(
      new UpdateTimeToLiveCommand({
        TableName: TABLE,
        TimeToLiveSpecification: { AttributeName, Enabled },
      }),
    );

  beforeEach(async () => {
    subject = createSubject();
    await createTable(subject);
  });

  it('deletes what is due, and only when told to', async () => {
    await setTtl(true);
    await put(subject, { ...key('due'), ttl: { N: String(NOW_SECONDS) } });
    await put(subject, { ...key('later'), ttl: { N: String(NOW_SECONDS + 1) } });
    await put(subject, { ...key('ancient'), ttl: { N: String(NOW_SECONDS - 6 * YEAR_SECONDS) } });
    await put(subject, { ...key('text'), ttl: { S: String(NOW_SECONDS) } });
    await put(subject, key('without'));
    expect(await stored(subject, key('due'))).toBeDefined();
    expect(subject.dynamoDb.expire(NOW)).toBe(1);
    expect(await stored(subject, key('due'))).toBeUndefined();
    for (const partition of ['later', 'ancient', 'text', 'without']) {
      expect(await stored(subject, key(partition))).toBeDefined();
    }
  });

  it('marks its removals in the stream', async () => {
    await setTtl(true);
    await put(subject, { ...key('due'), ttl: { N: String(NOW_SECONDS) } });
    subject.dynamoDb.expire(NOW);
    expect(subject.dynamoDb.readStream({ tableName: TABLE }).records.at(-1)).toMatchObject({
      eventName: 'REMOVE',
      userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
      dynamodb: { OldImage: key('due') },
    });
  });

  it('deletes nothing while it is off', async () => {
    await put(subject, { ...key('due'), ttl: { N: String(NOW_SECONDS) } });
    expect(subject.dynamoDb.expire(NOW)).toBe(0);
  });

  it('is described as it was set, and can be turned off again', async () => {
    const describeTtl = async () => {
      const answer = await subject.client.send(new DescribeTimeToLiveCommand({ TableName: TABLE }));
      return answer.TimeToLiveDescription;
    };
    expect(await describeTtl()).toEqual({ TimeToLiveStatus: 'DISABLED' });
    await setTtl(true);
    expect(await describeTtl()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' });
    await expect(setTtl(true)).rejects.toThrow('already enabled');
    await expect(setTtl(false, 'other')).rejects.toThrow('different AttributeName');
    await setTtl(false);
    expect(await describeTtl()).toEqual({ TimeToLiveStatus: 'DISABLED' });
  });
});
