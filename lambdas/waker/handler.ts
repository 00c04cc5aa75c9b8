import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { fromItem } from '../aws/items.ts';
import { errorName } from '../core/errors.ts';
import { type InFlightChange, lastChanges } from '../core/in-flight.ts';
import { concernedStreams, type TableChange } from '../core/stream.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { type WakerDeps, wake } from './waker.ts';

/** The in-flight register, as the waker writes it. */
export interface InFlightCounting {
  apply(changes: readonly InFlightChange[]): Promise<void>;
  /** Releases the keys whose work has ended. */
  releaseFinal(idempotencyKeys: readonly string[]): Promise<unknown>;
}

export interface WakerHandlerDeps extends WakerDeps {
  readonly telemetry: Telemetry;
  /** Of a worker with an in-flight limit. */
  readonly inFlight?: InFlightCounting;
}

/**
 * The waker's Lambda handler: a batch of the table's changes in; the first record that could not be dealt with out,
 * from which the event source goes on.
 */
export function createHandler(deps: WakerHandlerDeps) {
  return async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const done = new Set<string>();
    try {
      if (deps.inFlight !== undefined && !(await count(event, deps.inFlight, deps.telemetry))) {
        return failedFrom(event.Records[0]);
      }
      for (const record of event.Records) {
        for (const place of concernedStreams(toChange(record))) {
          const id = JSON.stringify(place);
          if (done.has(id)) continue;
          try {
            const woken = await wake(place, deps);
            if (woken > 0) deps.telemetry.info('executions_woken', { stream: place.stream, woken });
          } catch (error) {
            deps.telemetry.error('wake_failed', { stream: place.stream, code: errorName(error) });
            return failedFrom(record);
          }
          done.add(id);
        }
      }
      return { batchItemFailures: [] };
    } finally {
      deps.telemetry.flush();
    }
  };
}

/** The whole batch counts at once: only the last change of a key matters. */
async function count(
  event: DynamoDBStreamEvent,
  inFlight: InFlightCounting,
  telemetry: Telemetry,
): Promise<boolean> {
  const changes = lastChanges(event.Records.map(toChange));
  if (changes.length === 0) return true;
  try {
    await inFlight.apply(changes);
    await inFlight.releaseFinal(changes.flatMap(({ key, look }) => (look ? [key] : [])));
    return true;
  } catch (error) {
    telemetry.error('in_flight_not_counted', { code: errorName(error) });
    return false;
  }
}

/** The event source goes on from this record. */
const failedFrom = (record: DynamoDBRecord | undefined): DynamoDBBatchResponse => ({
  batchItemFailures: [{ itemIdentifier: record?.dynamodb?.SequenceNumber ?? '' }],
});

function toChange({ dynamodb = {} }: DynamoDBRecord): TableChange {
  const image = (item: typeof dynamodb.NewImage) => (item === undefined ? undefined : fromItem(asItem(item)));
  return {
    PK: dynamodb.Keys?.PK?.S ?? '',
    SK: dynamodb.Keys?.SK?.S ?? '',
    newImage: image(dynamodb.NewImage),
    oldImage: image(dynamodb.OldImage),
  };
}

/** The event's attribute values are the client's, save that binary values come as text; none of ours is binary. */
function asItem(item: NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>) {
  return item as Record<string, AttributeValue>;
}
