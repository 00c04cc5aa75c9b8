import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { forgetAggregate } from '../../lambdas/aws/forget.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const CANARY = 'canary7f3a';
const LARGE = 70 * 1024;

const letterOrdered = defineMessage({
  type: 'LetterOrdered',
  schemas: { 1: v.object({ address: v.string(), fail: v.boolean() }) },
  ordering: 'none',
  data: 'reference',
  attempts: { max: 1 },
  plan({ payload, effects }) {
    const letter = effects.letter;
    if (letter === undefined) {
      return { effects: [{ name: 'letter', provider: 'Post', operation: 'send', request: { ...payload } }] };
    }
    return { set: { sent: String(letter.reference) } };
  },
});

function post() {
  const requests: unknown[] = [];
  const provider = defineProvider<{ send: { address: string; fail: boolean } }>({
    name: 'Post',
    operations: {
      send: {
        schema: v.object({ address: v.string(), fail: v.boolean() }),
        idempotent: true,
        async execute({ request }) {
          requests.push(request);
          if (request.fail) throw new Error(`${request.address} is unknown`);
          return { reference: 'post-1', response: { to: request.address.repeat(LARGE / 10) } };
        },
        classify: (error) => ({
          done: 'no',
          kind: 'terminal',
          code: 'ADDRESS_UNKNOWN',
          message: error instanceof Error ? error.message : '',
        }),
      },
    },
  });
  return { requests, provider };
}

const letter = (key: string, fail: boolean) => ({
  messageId: `m-${key}`,
  schemaVersion: 1,
  messageType: 'LetterOrdered',
  producer: 'letters',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: key,
  aggregateType: 'LETTER',
  aggregateId: '1',
  payload: { address: `${CANARY} road`, fail },
});

async function held({ clients, names }: TestWorker): Promise<{ rows: string; objects: number }> {
  const { Items = [] } = await clients.dynamodb.send(new ScanCommand({ TableName: names.tableName }));
  const { Versions = [] } = await clients.s3.send(
    new ListObjectVersionsCommand({ Bucket: names.payloadBucket }),
  );
  return { rows: JSON.stringify(Items), objects: Versions.length };
}

describe('effects of a type whose data is a reference', () => {
  it('are carried out, and leave their request in no history and after forget nowhere', async () => {
    const { requests, provider } = post();
    const worker = await startWorker({ messages: [letterOrdered], providers: [provider] });

    await worker.send(letter('ok', false));
    await worker.untilIdle();
    await worker.send(letter('bad', true));
    await worker.untilIdle();

    expect(requests).toEqual([
      { address: `${CANARY} road`, fail: false },
      { address: `${CANARY} road`, fail: true },
    ]);
    expect(await worker.aggregate('letter', '1')).toMatchObject({ sent: 'post-1' });
    expect(await worker.inbox(sealedKey('bad'))).toMatchObject({ failureCode: 'ADDRESS_UNKNOWN' });
    for (const key of ['ok', 'bad']) {
      const { arn } = await worker.execution(sealedKey(key));
      const history = JSON.stringify(worker.stepFunctions.history(arn));
      expect(history).toContain('RunEffects');
      expect(history).not.toContain(CANARY);
    }

    expect((await held(worker)).rows).toContain(CANARY);
    await forgetAggregate(
      { aggregateType: 'letter', aggregateId: '1', now: new Date(worker.clock.now()) },
      {
        dynamodb: worker.clients.dynamodb,
        s3: worker.clients.s3,
        sqs: worker.clients.sqs,
        queueUrls: [worker.names.dlqUrl, worker.names.quarantineQueueUrl],
        tableName: worker.names.tableName,
        payloadBucket: worker.names.payloadBucket,
      },
    );
    const after = await held(worker);
    expect(after.rows).not.toContain(CANARY);
    expect(after.rows).not.toContain('EFFECT#');
    expect(after.objects).toBe(0);
  });
});
