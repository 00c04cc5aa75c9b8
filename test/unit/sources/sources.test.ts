import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../../lambdas/core/sources.ts';
import { eventBridgeSource } from '../../../lambdas/sources/event-bridge.ts';
import { s3NotificationSource } from '../../../lambdas/sources/s3-notification.ts';
import { snsSource } from '../../../lambdas/sources/sns.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';

const record = (body: unknown): SourceRecord => ({
  messageId: 'm',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  attributes: {},
  sentAt: 0,
});

const notification = (overrides: Record<string, unknown> = {}) => ({
  Type: 'Notification',
  MessageId: 'n-1',
  TopicArn: 'arn:aws:sns:eu-west-1:111122223333:cases',
  Message: JSON.stringify(deadlineEnvelope()),
  Timestamp: '2026-01-01T10:00:00.000Z',
  ...overrides,
});

describe('snsSource', () => {
  it('gives the envelope that the notification carries', () => {
    expect(snsSource().toEnvelope(record(notification()))).toEqual(deadlineEnvelope());
  });

  it('leaves bodies that are no notification to others', () => {
    expect(snsSource().toEnvelope(record(deadlineEnvelope()))).toBeUndefined();
    expect(snsSource().toEnvelope(record('{bad'))).toBeUndefined();
  });

  it('takes only the topics it was given', () => {
    const source = snsSource({ topicArns: ['arn:aws:sns:eu-west-1:111122223333:other'] });

    expect(source.toEnvelope(record(notification()))).toBeUndefined();
  });

  it('maps a foreign message as configured', () => {
    const source = snsSource({
      toEnvelope: ({ messageId, message }) => ({ messageId, payload: { message } }),
    });

    expect(source.toEnvelope(record(notification({ Message: 'plain' })))).toEqual({
      messageId: 'n-1',
      payload: { message: 'plain' },
    });
  });

  it('refuses a notification without a message', () => {
    expect(() => snsSource().toEnvelope(record(notification({ Message: 7 })))).toThrow(/Message/);
  });
});

const busEvent = (overrides: Record<string, unknown> = {}) => ({
  version: '0',
  id: 'e-1',
  'detail-type': 'CaseChanged',
  source: 'case.service',
  account: '111122223333',
  time: '2026-01-01T10:00:00Z',
  region: 'eu-west-1',
  resources: [],
  detail: deadlineEnvelope(),
  ...overrides,
});

describe('eventBridgeSource', () => {
  it('gives the envelope in the detail', () => {
    expect(eventBridgeSource().toEnvelope(record(busEvent()))).toEqual(deadlineEnvelope());
  });

  it('takes only the source and detail type it was given', () => {
    const source = eventBridgeSource({ source: 'case.service', detailType: 'CaseClosed' });

    expect(source.toEnvelope(record(busEvent()))).toBeUndefined();
    expect(source.toEnvelope(record(busEvent({ 'detail-type': 'CaseClosed' })))).toBeDefined();
    expect(source.toEnvelope(record(busEvent({ 'detail-type': 'CaseClosed', source: 'x' })))).toBeUndefined();
  });

  it('maps a foreign detail as configured', () => {
    const source = eventBridgeSource({ toEnvelope: ({ id, detailType }) => ({ id, detailType }) });

    expect(source.toEnvelope(record(busEvent()))).toEqual({ id: 'e-1', detailType: 'CaseChanged' });
  });
});

const objectEvent = (object: Record<string, unknown> = {}, eventName = 'ObjectCreated:Put') => ({
  eventVersion: '2.3',
  eventSource: 'aws:s3',
  eventName,
  eventTime: '2026-01-01T10:00:00.000Z',
  s3: {
    bucket: { name: 'uploads' },
    object: { key: 'a+b%C3%A9.pdf', size: 9, sequencer: '0055', ...object },
  },
});

describe('s3NotificationSource', () => {
  const source = s3NotificationSource({ messageType: 'DocumentUploaded' });

  it.each([
    ['takes', 'uploads', true],
    ['leaves to others', 'archive', false],
  ])('%s events of the bucket that it was given: %s', (_what, bucket, taken) => {
    const bound = s3NotificationSource({ messageType: 'DocumentUploaded', bucket });

    expect(bound.toEnvelope(record({ Records: [objectEvent()] })) !== undefined).toBe(taken);
  });
  const built = (object: Record<string, unknown> = {}) =>
    source.toEnvelope(record({ Records: [objectEvent(object)] }));

  it('names the object, decoded, in the payload', () => {
    expect(built({ versionId: 'v1' })).toMatchObject({
      messageType: 'DocumentUploaded',
      occurredAt: '2026-01-01T10:00:00.000Z',
      payload: { bucket: 'uploads', key: 'a bé.pdf', versionId: 'v1', sequencer: '0055' },
    });
  });

  it('gives a repeated notification the same key and an overwritten object another', () => {
    expect(built()).toEqual(built());
    expect(built({ sequencer: '0056' })).not.toMatchObject(Object(built()));
  });

  it('takes creations only, unless told otherwise', () => {
    const removed = record({ Records: [objectEvent({}, 'ObjectRemoved:Delete')] });

    expect(source.toEnvelope(removed)).toBeUndefined();
    expect(
      s3NotificationSource({ messageType: 'Gone', eventNames: ['ObjectRemoved:'] }).toEnvelope(removed),
    ).toMatchObject({ messageType: 'Gone' });
  });

  it('lets the mapping replace fields', () => {
    const mapped = s3NotificationSource({
      messageType: 'DocumentUploaded',
      toEnvelope: ({ key }) => ({ aggregateId: key }),
    });

    expect(mapped.toEnvelope(record({ Records: [objectEvent()] }))).toMatchObject({
      aggregateId: 'a bé.pdf',
    });
  });

  it('refuses several records in one notification', () => {
    expect(() => source.toEnvelope(record({ Records: [objectEvent(), objectEvent()] }))).toThrow(
      /one record/,
    );
  });
});
