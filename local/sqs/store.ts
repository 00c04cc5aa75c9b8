import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { invalidAttributeValue, purgeInProgress, queueDoesNotExist, queueNameExists } from './errors.ts';
import type { NewMessage, StoredMessage } from './message.ts';
import { createMoveTasks, type MoveTasks } from './move-tasks.ts';
import { Queue, type QueueSnapshot } from './queue.ts';
import {
  changedAttributes,
  initialAttributes,
  parseRedrivePolicy,
  type QueueAttributes,
} from './queue-attributes.ts';

const PURGE_INTERVAL_MILLISECONDS = 60_000;

/** All queues, as plain JSON. */
export interface SqsSnapshot {
  readonly queues: readonly QueueSnapshot[];
}

export interface SqsStoreOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  /** Part of every queue's ARN. */
  readonly region: string;
  /** Part of every queue's ARN and URL. */
  readonly account: string;
}

export interface ReceiveOptions {
  readonly max: number;
  readonly waitSeconds: number;
  readonly visibilitySeconds: number;
  readonly signal?: AbortSignal;
}

/** The queues of one account and region. */
export interface SqsStore {
  readonly account: string;
  readonly moveTasks: MoveTasks;
  /** Creates a queue, or returns the one that is there with the same attributes. */
  createQueue(name: string, attributes: QueueAttributes, tags: Readonly<Record<string, string>>): Queue;
  deleteQueue(name: string): void;
  setAttributes(queue: Queue, attributes: QueueAttributes): void;
  /** Every queue, in order of creation. */
  queues(): readonly Queue[];
  /** @throws SqsError `QueueDoesNotExist`. */
  queue(name: string): Queue;
  queueByArn(arn: string): Queue | undefined;
  /** The queues whose dead-letter queue this is. */
  deadLetterSources(queue: Queue): readonly Queue[];
  send(queue: Queue, message: NewMessage): Pick<StoredMessage, 'id' | 'sequenceNumber'>;
  /** Receives, waiting up to `waitSeconds` for a first message. */
  receive(queue: Queue, options: ReceiveOptions): Promise<readonly StoredMessage[]>;
  delete(queue: Queue, handle: string): void;
  changeVisibility(queue: Queue, handle: string, seconds: number): void;
  purge(queue: Queue): void;
  /** Puts a message of another queue into this one. */
  accept(queue: Queue, message: StoredMessage): void;
  /** When a receive from the queue would next find something; undefined when it is empty or not there. */
  nextVisibleAt(queueName: string): number | undefined;
  /** Calls back whenever a message of the queue may have become visible sooner than was known. */
  onChange(queueName: string, listener: () => void): () => void;
  /** Both for one queue, as an event source takes them. */
  signals(queueName: string): {
    onChange(listener: () => void): () => void;
    nextVisibleAt(): number | undefined;
  };
  snapshot(): SqsSnapshot;
  /** Replaces everything. */
  restore(snapshot: SqsSnapshot): void;
}

/** Creates an empty store. */
export function createSqsStore({ clock, newId, region, account }: SqsStoreOptions): SqsStore {
  const queues = new Map<string, Queue>();
  const listeners = new Map<string, Set<() => void>>();
  const arnOf = (name: string) => `arn:aws:sqs:${region}:${account}:${name}`;

  function changed(queue: Queue): void {
    for (const listener of [...(listeners.get(queue.name) ?? [])]) listener();
  }

  function onChange(queueName: string, listener: () => void): () => void {
    const known = listeners.get(queueName) ?? new Set();
    listeners.set(queueName, known.add(listener));
    return () => known.delete(listener);
  }

  function queueByArn(arn: string): Queue | undefined {
    const queue = queues.get(arn.split(':').at(-1) ?? '');
    return queue?.arn === arn ? queue : undefined;
  }

  function queue(name: string): Queue {
    const found = queues.get(name);
    if (found === undefined) throw queueDoesNotExist();
    return found;
  }

  function checkDeadLetterQueue(name: string, attributes: QueueAttributes): void {
    if (attributes.RedrivePolicy === undefined || attributes.RedrivePolicy === '') return;
    const target = queueByArn(parseRedrivePolicy(attributes.RedrivePolicy).deadLetterTargetArn);
    if (target === undefined) {
      throw invalidAttributeValue('RedrivePolicy', 'Dead letter target does not exist.');
    }
    if (target.fifo !== name.endsWith('.fifo')) {
      throw invalidAttributeValue(
        'RedrivePolicy',
        'Dead-letter queue must be the same type of queue as the source.',
      );
    }
  }

  function accept(target: Queue, message: StoredMessage): void {
    target.accept(message);
    changed(target);
  }

  /** A message keeps its id, attributes, counts and, on a standard queue, its age when it is moved. */
  function deadLetter(source: Queue, message: StoredMessage, targetArn: string): boolean {
    const { receipt: _receipt, receivedAt: _receivedAt, ...kept } = message;
    const target = queueByArn(targetArn);
    if (target === undefined) return false;
    const now = clock.now();
    accept(target, {
      ...kept,
      sourceArn: source.arn,
      visibleAt: now,
      sentAt: target.fifo ? now : message.sentAt,
    });
    return true;
  }

  /** Waits for a change of the queue, at most until `until`. */
  async function changeOf(target: Queue, until: number, signal: AbortSignal | undefined): Promise<void> {
    const done = new AbortController();
    const changedOnce = Promise.withResolvers<void>();
    const stopListening = onChange(target.name, changedOnce.resolve);
    signal?.addEventListener('abort', () => changedOnce.resolve(), { once: true, signal: done.signal });
    const timer = clock.sleep(until - clock.now(), done.signal).catch(() => {});
    await Promise.race([changedOnce.promise, timer]);
    stopListening();
    done.abort();
  }

  const store: SqsStore = {
    account,
    moveTasks: createMoveTasks({ clock, newId, store: () => store }),
    queues: () => [...queues.values()],
    queue,
    queueByArn,
    accept,
    onChange,
    createQueue(name, attributes, tags) {
      const existing = queues.get(name);
      if (existing !== undefined) {
        for (const [attribute, value] of Object.entries(attributes)) {
          if (attribute !== 'FifoQueue' && existing.attributes[attribute] !== value)
            throw queueNameExists(attribute);
        }
        return existing;
      }
      checkDeadLetterQueue(name, attributes);
      const now = clock.now();
      const created = new Queue(arnOf(name), {
        name,
        attributes: initialAttributes(attributes, name.endsWith('.fifo')),
        tags,
        createdAt: now,
        modifiedAt: now,
        sequence: 0,
        receives: 0,
        messages: [],
        deduplicated: [],
      });
      queues.set(name, created);
      return created;
    },
    deleteQueue(name) {
      const target = queue(name);
      queues.delete(name);
      changed(target);
    },
    setAttributes(target, attributes) {
      checkDeadLetterQueue(target.name, attributes);
      target.attributes = changedAttributes(target.attributes, attributes, target.fifo);
      target.modifiedAt = clock.now();
    },
    deadLetterSources: ({ arn }) =>
      store.queues().filter(({ attributes: { RedrivePolicy: policy } }) => {
        return policy !== undefined && parseRedrivePolicy(policy).deadLetterTargetArn === arn;
      }),
    send(target, message) {
      const sent = target.send(message, clock.now(), newId);
      changed(target);
      return sent;
    },
    async receive(target, { max, waitSeconds, visibilitySeconds, signal }) {
      const deadline = clock.now() + 1_000 * waitSeconds;
      for (;;) {
        // A queue deleted during a long poll ends it.
        queue(target.name);
        const now = clock.now();
        const messages = target.receive(now, {
          max,
          visibilitySeconds,
          deadLetter: (message, arn) => deadLetter(target, message, arn),
        });
        if (messages.length > 0 || now >= deadline || signal?.aborted === true) return messages;
        await changeOf(target, Math.min(deadline, target.nextVisibleAt(now) ?? deadline), signal);
      }
    },
    delete(target, handle) {
      target.delete(handle, clock.now());
      // The next message of the same group may be visible now.
      if (target.fifo) changed(target);
    },
    changeVisibility(target, handle, seconds) {
      target.changeVisibility(handle, seconds, clock.now());
      changed(target);
    },
    purge(target) {
      const now = clock.now();
      if (target.purgedAt !== undefined && now - target.purgedAt < PURGE_INTERVAL_MILLISECONDS) {
        throw purgeInProgress(target.name);
      }
      target.purgedAt = now;
      target.purge();
    },
    nextVisibleAt: (queueName) => queues.get(queueName)?.nextVisibleAt(clock.now()),
    signals: (queueName) => ({
      onChange: (listener) => onChange(queueName, listener),
      nextVisibleAt: () => store.nextVisibleAt(queueName),
    }),
    snapshot: () => ({ queues: store.queues().map((each) => each.snapshot()) }),
    restore(snapshot) {
      queues.clear();
      for (const each of snapshot.queues) queues.set(each.name, new Queue(arnOf(each.name), each));
      for (const each of queues.values()) changed(each);
    },
  };
  return store;
}
