import type { NewId } from '../../lambdas/core/clock.ts';
import {
  invalidParameter,
  invalidValue,
  messageNotInflight,
  overLimit,
  receiptHandleInvalid,
} from './errors.ts';
import { FifoBuffer } from './fifo-buffer.ts';
import { contentDeduplicationId, type NewMessage, type StoredMessage } from './message.ts';
import type { MessageBuffer } from './message-buffer.ts';
import { MAX_VISIBILITY_SECONDS, parseRedrivePolicy, type QueueAttributes } from './queue-attributes.ts';
import { StandardBuffer } from './standard-buffer.ts';

const DEDUPLICATION_MILLISECONDS = 5 * 60_000;
const MAX_IN_FLIGHT = 120_000;

interface Deduplicated {
  readonly message: Pick<StoredMessage, 'id' | 'sequenceNumber'>;
  readonly until: number;
}

/** What a queue is made of, as plain JSON. */
export interface QueueSnapshot {
  readonly name: string;
  readonly attributes: QueueAttributes;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly sequence: number;
  readonly receives: number;
  readonly messages: readonly StoredMessage[];
  readonly deduplicated: readonly (readonly [string, Deduplicated])[];
}

export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** One queue's messages. Every method is told the time, so that the queue itself has no clock. */
export class Queue {
  readonly name: string;
  readonly arn: string;
  readonly fifo: boolean;
  readonly createdAt: number;
  attributes: QueueAttributes;
  tags: Readonly<Record<string, string>>;
  modifiedAt: number;
  purgedAt: number | undefined;
  readonly #messages = new Map<string, StoredMessage>();
  readonly #deduplicated: Map<string, Deduplicated>;
  readonly #buffer: MessageBuffer;
  #sequence: number;
  #receives: number;
  /** Stored messages that were received at least once: no fewer than are in flight. */
  #everReceived = 0;

  constructor(arn: string, snapshot: QueueSnapshot) {
    this.name = snapshot.name;
    this.arn = arn;
    this.fifo = snapshot.name.endsWith('.fifo');
    this.attributes = snapshot.attributes;
    this.tags = snapshot.tags;
    this.createdAt = snapshot.createdAt;
    this.modifiedAt = snapshot.modifiedAt;
    this.#sequence = snapshot.sequence;
    this.#receives = snapshot.receives;
    this.#deduplicated = new Map(snapshot.deduplicated);
    this.#buffer = this.fifo ? new FifoBuffer() : new StandardBuffer();
    for (const message of snapshot.messages) this.#store({ ...message });
  }

  number(attribute: string): number {
    return Number(this.attributes[attribute] ?? 0);
  }

  /** Stores a message, or answers with the first one when a FIFO queue saw it within five minutes. */
  send(message: NewMessage, now: number, newId: NewId): Pick<StoredMessage, 'id' | 'sequenceNumber'> {
    const { delaySeconds, ...content } = message;
    const visibleAt = now + 1_000 * (delaySeconds ?? this.number('DelaySeconds'));
    const stored = { ...content, id: newId(), sentAt: now, receiveCount: 0, visibleAt };
    if (!this.fifo) {
      this.#store(stored);
      return stored;
    }
    const deduplicationId = message.deduplicationId ?? contentDeduplicationId(message.body);
    const scope = this.attributes.DeduplicationScope === 'messageGroup' ? message.groupId : '';
    const key = JSON.stringify([scope, deduplicationId]);
    const earlier = this.#deduplicated.get(key);
    if (earlier !== undefined && now < earlier.until) return earlier.message;
    const accepted = { ...stored, deduplicationId, sequenceNumber: this.#nextSequenceNumber() };
    this.#store(accepted);
    this.#forgetDeduplicated(now);
    this.#deduplicated.delete(key);
    this.#deduplicated.set(key, {
      message: { id: accepted.id, sequenceNumber: accepted.sequenceNumber },
      until: now + DEDUPLICATION_MILLISECONDS,
    });
    return accepted;
  }

  /** Takes a message over from another queue. */
  accept(message: StoredMessage): void {
    this.#store(this.fifo ? { ...message, sequenceNumber: this.#nextSequenceNumber() } : message);
  }

  /**
   * Takes up to `max` visible messages and hides them. Messages that were received too often go to
   * `deadLetter` instead, as long as that queue is there; those that are too old are dropped.
   */
  receive(
    now: number,
    options: {
      readonly max: number;
      readonly visibilitySeconds: number;
      /** Takes the message, or answers false when there is no such queue. */
      readonly deadLetter: (message: StoredMessage, targetArn: string) => boolean;
    },
  ): StoredMessage[] {
    const { max, visibilitySeconds, deadLetter } = options;
    const policy = this.attributes.RedrivePolicy;
    const redrive = policy === undefined ? undefined : parseRedrivePolicy(policy);
    const retention = 1_000 * this.number('MessageRetentionPeriod');
    const taken: StoredMessage[] = [];
    while (taken.length < max) {
      const message = this.#buffer.next(now, taken);
      if (message === undefined) break;
      if (message.sentAt + retention <= now) {
        this.#drop(message);
      } else if (
        redrive !== undefined &&
        message.receiveCount >= redrive.maxReceiveCount &&
        deadLetter(message, redrive.deadLetterTargetArn)
      ) {
        this.#drop(message);
      } else {
        taken.push(message);
      }
    }
    const mayBeFull = this.#everReceived + taken.length > MAX_IN_FLIGHT && taken.length > 0;
    if (mayBeFull && this.counts(now).inFlight + taken.length > MAX_IN_FLIGHT) {
      for (const message of taken) this.#buffer.rescheduled(message);
      throw overLimit(`${this.name} has ${MAX_IN_FLIGHT} messages in flight, the most it may have.`);
    }
    for (const message of taken) {
      this.#receives += 1;
      if (message.receivedAt === undefined) this.#everReceived += 1;
      message.receiveCount += 1;
      message.firstReceivedAt ??= now;
      message.receivedAt = now;
      message.receipt = String(this.#receives);
      message.visibleAt = now + 1_000 * visibilitySeconds;
      this.#buffer.rescheduled(message);
    }
    return taken;
  }

  /** The receipt handle of a message's newest receive. */
  receiptHandle(message: StoredMessage): string {
    return Buffer.from(JSON.stringify([this.name, message.id, message.receipt])).toString('base64');
  }

  /**
   * Deletes by receipt handle. A standard queue answers success for an outdated handle and keeps the message;
   * a FIFO queue refuses it.
   */
  delete(handle: string, now: number): void {
    const { id, receipt } = this.#parseHandle(handle);
    const message = this.#messages.get(id);
    if (message === undefined) return;
    if (this.fifo && (message.receipt !== receipt || message.visibleAt <= now)) {
      throw invalidValue('ReceiptHandle', handle, 'The receipt handle has expired.');
    }
    if (message.receipt === receipt) this.#drop(message);
  }

  /** Hides an in-flight message for `seconds` from now, or shows it at once. */
  changeVisibility(handle: string, seconds: number, now: number): void {
    const { id, receipt } = this.#parseHandle(handle);
    const message = this.#messages.get(id);
    if (message === undefined) {
      const reason = 'Message does not exist or is not available for visibility timeout change.';
      throw invalidValue('ReceiptHandle', handle, reason);
    }
    if (message.visibleAt <= now || message.receivedAt === undefined) throw messageNotInflight();
    if (message.receipt !== receipt) {
      throw invalidValue('ReceiptHandle', handle, 'The receipt handle has expired.');
    }
    const visibleAt = now + 1_000 * seconds;
    if (visibleAt - message.receivedAt > 1_000 * MAX_VISIBILITY_SECONDS) {
      throw invalidParameter(
        `Total VisibilityTimeout for the message is beyond the limit [${MAX_VISIBILITY_SECONDS} seconds]`,
      );
    }
    message.visibleAt = visibleAt;
    this.#buffer.rescheduled(message);
  }

  /** When a receive would next find something; undefined when the queue is empty. */
  nextVisibleAt(now: number): number | undefined {
    return this.#buffer.nextVisibleAt(now);
  }

  counts(now: number): QueueCounts {
    let visible = 0;
    let inFlight = 0;
    let delayed = 0;
    for (const { visibleAt, receivedAt } of this.#messages.values()) {
      if (visibleAt <= now) visible += 1;
      else if (receivedAt === undefined) delayed += 1;
      else inFlight += 1;
    }
    return { visible, inFlight, delayed };
  }

  /** Takes out up to `max` visible messages for a move task, without counting a receive. */
  takeForMove(now: number, max: number): StoredMessage[] {
    const taken: StoredMessage[] = [];
    while (taken.length < max) {
      const message = this.#buffer.next(now, taken);
      if (message === undefined) break;
      taken.push(message);
    }
    for (const message of taken) this.#drop(message);
    return taken;
  }

  purge(): void {
    for (const message of [...this.#messages.values()]) this.#drop(message);
  }

  /** The messages now, oldest first, for tools that look without receiving. */
  messages(): readonly StoredMessage[] {
    return [...this.#messages.values()];
  }

  snapshot(): QueueSnapshot {
    return {
      name: this.name,
      attributes: this.attributes,
      tags: this.tags,
      createdAt: this.createdAt,
      modifiedAt: this.modifiedAt,
      sequence: this.#sequence,
      receives: this.#receives,
      messages: this.messages().map((message) => ({ ...message })),
      deduplicated: [...this.#deduplicated],
    };
  }

  #store(message: StoredMessage): void {
    this.#messages.set(message.id, message);
    if (message.receivedAt !== undefined) this.#everReceived += 1;
    this.#buffer.add(message);
  }

  #drop(message: StoredMessage): void {
    this.#messages.delete(message.id);
    if (message.receivedAt !== undefined) this.#everReceived -= 1;
    this.#buffer.remove(message);
  }

  #nextSequenceNumber(): string {
    this.#sequence += 1;
    return String(this.#sequence).padStart(20, '0');
  }

  #forgetDeduplicated(now: number): void {
    for (const [key, { until }] of this.#deduplicated) {
      if (until > now) return;
      this.#deduplicated.delete(key);
    }
  }

  #parseHandle(handle: string): { readonly id: string; readonly receipt: string } {
    try {
      const [queue, id, receipt]: unknown[] = JSON.parse(Buffer.from(handle, 'base64').toString());
      if (queue === this.name && typeof id === 'string' && typeof receipt === 'string')
        return { id, receipt };
    } catch {
      // Not one of ours; reported below.
    }
    throw receiptHandleInvalid(handle);
  }
}
