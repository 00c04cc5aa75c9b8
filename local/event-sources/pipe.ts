import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { ConfigurationError } from '../../lambdas/core/errors.ts';
import type { InvokeOutcome } from './lambda-invoker.ts';
import {
  createStreamEventSource,
  type StreamEventSource,
  type StreamEventSourceOptions,
  type StreamReader,
  type StreamRecordLike,
} from './stream-event-source.ts';

/** A record whose new image can be read. */
export interface PipeRecord extends StreamRecordLike {
  readonly dynamodb: StreamRecordLike['dynamodb'] & {
    readonly NewImage?: { readonly [attribute: string]: object };
  };
}

export interface PipeOptions<R extends PipeRecord> {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly reader: StreamReader<R>;
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** Where to go on after a restart. @default the oldest record kept */
  readonly startAfter?: string;
  /** For tests: what happens to a batch. @default 'none' */
  readonly deliver?: NonNullable<StreamEventSourceOptions<R>['deliver']>;
  /** Told of sends that failed; they are tried again. */
  readonly onError?: (error: unknown) => void;
}

/**
 * An EventBridge pipe from a table's stream to a queue: every new row whose PK starts with `OUTBOX#` becomes
 * a message with the row's string `envelope` as its body, in the stream's order and at least once.
 * @throws ConfigurationError when the queue is a FIFO queue, as the construct `OutboxPipe` does
 */
export function createPipe<R extends PipeRecord>(options: PipeOptions<R>): StreamEventSource {
  const { clock, newId, reader, client, queueUrl, startAfter, deliver, onError } = options;
  if (queueUrl.endsWith('.fifo')) {
    throw new ConfigurationError(
      `The outbox’s target ${queueUrl} is a FIFO queue, whose order would promise too much: a stream keeps no order across rows. Use a standard queue and a type's ordering by version`,
    );
  }
  async function publish(records: readonly R[]): Promise<InvokeOutcome> {
    const requestId = newId();
    try {
      for (const record of records) {
        const body = envelopeOf(record);
        await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
      }
      return { status: 'succeeded', requestId, payload: null };
    } catch (error) {
      onError?.(error);
      return { status: 'failed', requestId, error: { errorType: 'PipeError', errorMessage: String(error) } };
    }
  }

  return createStreamEventSource({
    clock,
    reader,
    functionName: 'outbox-pipe',
    batchSize: 10,
    filters: [{ eventName: ['INSERT'], dynamodb: { Keys: { PK: { S: [{ prefix: 'OUTBOX#' }] } } } }],
    invoke: ({ Records }) => publish(Records),
    ...(startAfter === undefined ? {} : { startAfter }),
    ...(deliver === undefined ? {} : { deliver }),
    ...(onError === undefined ? {} : { onError }),
  });
}

function envelopeOf({ dynamodb: { NewImage, SequenceNumber } }: PipeRecord): string {
  const attribute = NewImage?.envelope;
  if (attribute !== undefined && 'S' in attribute && typeof attribute.S === 'string') return attribute.S;
  throw new Error(`outbox row at sequence number ${SequenceNumber} has no string attribute "envelope"`);
}
