import { describe, expect, it } from 'vitest';
import { runUntil, settle } from '../../../local/drive.ts';
import { createPipe } from '../../../local/event-sources/pipe.ts';
import { setUpStream } from './stream-setup.ts';

async function setUp(deliver?: () => 'none' | 'twice') {
  const t = await setUpStream();
  const { clock, newId, reader, client, activity, store } = t;
  const errors: unknown[] = [];
  const { url: queueUrl } = await t.createQueue('target');
  const onError = (error: unknown) => errors.push(error);
  createPipe({
    clock,
    newId,
    reader,
    client,
    queueUrl,
    onError,
    ...(deliver === undefined ? {} : { deliver }),
  });
  const bodies = () =>
    store
      .queue('target')
      .messages()
      .map(({ body }) => body);
  return { ...t, errors, bodies, rest: () => settle(activity.inFlight) };
}

describe('outbox pipe', () => {
  it('sends the envelope of new outbox rows, in order, and nothing else', async () => {
    const t = await setUp();
    await t.put('IDEMP#k', { envelope: { S: 'not this' } });
    await t.put('OUTBOX#1', { envelope: { S: '{"a":1}' } });
    await t.put('OUTBOX#2', { envelope: { S: '{"a":2}' } });
    await t.put('OUTBOX#1', { envelope: { S: 'modified' } });
    await t.remove('OUTBOX#2');
    await t.rest();

    expect(t.bodies()).toEqual(['{"a":1}', '{"a":2}']);
  });

  it('publishes at least once when a batch is delivered twice', async () => {
    const t = await setUp(() => 'twice');
    await t.put('OUTBOX#1', { envelope: { S: 'e' } });
    await t.rest();

    expect(t.bodies()).toEqual(['e', 'e']);
  });

  it('refuses a FIFO queue, whose groups it could not name', async () => {
    const { clock, newId, reader, client } = await setUpStream();
    const queueUrl = 'http://sqs.us-east-1.localhost/000000000000/target.fifo';

    expect(() => createPipe({ clock, newId, reader, client, queueUrl })).toThrow(
      /target\.fifo is a FIFO queue/,
    );
  });

  it('tries again until the queue takes the message', async () => {
    const t = await setUp();
    t.store.deleteQueue('target');
    await t.put('OUTBOX#1', { envelope: { S: 'e' } });
    await t.rest();
    expect(t.errors).toHaveLength(1);

    t.store.createQueue('target', {}, {});
    await runUntil(() => t.bodies().length === 1, { clock: t.clock, inFlight: t.activity.inFlight });

    expect(t.bodies()).toEqual(['e']);
  });
});
