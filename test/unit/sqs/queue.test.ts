import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '../../../local/sqs/message.ts';
import type { Queue } from '../../../local/sqs/queue.ts';
import { createSqsStore, type SqsStore } from '../../../local/sqs/store.ts';
import { createVirtualClock, type VirtualClock } from '../../../local/virtual-clock.ts';

const VISIBILITY_SECONDS = 30;

function setUp(name: string, maxReceiveCount = 3) {
  const clock = createVirtualClock();
  let ids = 0;
  const store = createSqsStore({
    clock,
    newId: () => String(++ids).padStart(6, '0'),
    region: 'us-east-1',
    account: '000000000000',
  });
  const fifo: Record<string, string> = name.endsWith('.fifo')
    ? { FifoQueue: 'true', ContentBasedDeduplication: 'true' }
    : {};
  const dlq = store.createQueue(`dlq-${name}`, fifo, {});
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount });
  const queue = store.createQueue(name, { ...fifo, RedrivePolicy }, {});
  return { clock, store, dlq, queue };
}

const receive = (store: SqsStore, queue: Queue, max: number) =>
  store.receive(queue, { max, waitSeconds: 0, visibilitySeconds: VISIBILITY_SECONDS });

type Step =
  | { readonly do: 'send'; readonly group: string }
  | { readonly do: 'receive'; readonly max: number }
  | { readonly do: 'delete' | 'release'; readonly which: number }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), group: fc.constantFrom('A', 'B', 'C') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('receive' as const), max: fc.integer({ min: 1, max: 10 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'release' as const), which: fc.nat(20) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

interface Held {
  readonly message: StoredMessage;
  readonly handle: string;
  readonly until: number;
}

/** Runs the steps and calls back for every receive with what is held meanwhile. */
async function run(
  name: string,
  steps: readonly Step[],
  onReceive: (messages: readonly StoredMessage[], held: readonly Held[]) => void,
): Promise<{
  readonly sent: string[];
  readonly deleted: string[];
  readonly clock: VirtualClock;
  store: SqsStore;
}> {
  const { clock, store } = setUp(name);
  const queue = () => store.queue(name);
  const sent: string[] = [];
  const deleted: string[] = [];
  let held: Held[] = [];
  for (const each of steps) {
    held = held.filter(({ until }) => until > clock.now());
    const chosen = 'which' in each ? held[each.which] : undefined;
    if (each.do === 'send') {
      const body = `${each.group}${sent.length}`;
      store.send(queue(), { body, groupId: each.group, attributes: {}, systemAttributes: {} });
      sent.push(body);
    } else if (each.do === 'receive') {
      const messages = await receive(store, queue(), each.max);
      onReceive(messages, held);
      const until = clock.now() + VISIBILITY_SECONDS * 1_000;
      held.push(...messages.map((message) => ({ message, handle: queue().receiptHandle(message), until })));
    } else if (each.do === 'wait') {
      clock.moveTo(clock.now() + each.seconds * 1_000);
    } else if (each.do === 'restart') {
      store.restore(JSON.parse(JSON.stringify(store.snapshot())));
    } else if (chosen !== undefined) {
      if (each.do === 'delete') {
        store.delete(queue(), chosen.handle);
        deleted.push(chosen.message.body);
      } else {
        store.changeVisibility(queue(), chosen.handle, 0);
      }
      held = held.filter((other) => other !== chosen);
    }
  }
  return { sent, deleted, clock, store };
}

describe('queue, whatever is done to it', () => {
  it.each(['q', 'q.fifo'])('loses no message and delivers none after its deletion (%s)', async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { sent, deleted, store } = await run(name, steps, () => {});

        const left = [name, `dlq-${name}`].flatMap((each) =>
          store
            .queue(each)
            .messages()
            .map(({ body }) => body),
        );
        expect([...left, ...deleted].sort()).toEqual([...sent].sort());
      }),
      { numRuns: 200 },
    );
  });

  it.each(['q', 'q.fifo'])('hands no message to two receivers at once (%s)', async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        await run(name, steps, (messages, held) => {
          const ids = [...held.map(({ message }) => message.id), ...messages.map(({ id }) => id)];
          expect(new Set(ids).size).toBe(ids.length);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('keeps a FIFO group in order and to one receiver', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        await run('q.fifo', steps, (messages, held) => {
          const busy = new Set(held.map(({ message }) => message.groupId));
          expect(messages.filter(({ groupId }) => busy.has(groupId))).toEqual([]);
          for (const group of ['A', 'B', 'C']) {
            const numbers = messages
              .filter(({ groupId }) => groupId === group)
              .map(({ body }) => Number(body.slice(1)));
            expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
          }
        });
      }),
      { numRuns: 200 },
    );
  });

  it.each(['q', 'q.fifo'])('knows when the next receive finds something (%s)', async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, store } = await run(name, steps, () => {});
        const next = store.nextVisibleAt(name);
        if (next === undefined) {
          expect(store.queue(name).messages()).toEqual([]);
          return;
        }
        if (next > clock.now()) {
          clock.moveTo(next - 1);
          expect(await receive(store, store.queue(name), 10)).toEqual([]);
          clock.moveTo(next);
        }
        const before = store.queue(name).messages().length;
        const got = await receive(store, store.queue(name), 10);
        const moved = before - store.queue(name).messages().length;
        expect(got.length + moved).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('queue limits', () => {
  it('has at most 120,000 messages in flight', async () => {
    const { store, queue, clock } = setUp('q');
    const message = { body: 'x', attributes: {}, systemAttributes: {} };
    for (let count = 0; count < 120_001; count += 1) store.send(queue, message);
    for (let count = 0; count < 120_000; count += 10) await receive(store, queue, 10);

    await expect(receive(store, queue, 10)).rejects.toMatchObject({ code: 'OverLimit' });
    clock.moveTo(clock.now() + VISIBILITY_SECONDS * 1_000);
    expect(await receive(store, queue, 10)).toHaveLength(10);
  });
});
