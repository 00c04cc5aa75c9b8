import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { fromItem } from '../aws/items.ts';
import { errorName } from '../core/errors.ts';
import { concernedStreams, type TableChange } from '../core/stream.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { type WakerDeps, wake } from './waker.ts';

export interface WakerHandlerDeps extends WakerDeps {
  readonly telemetry: Telemetry;
}

/**
 * The waker's Lambda handler: a batch of the table's changes in; the first record that could not be dealt with out,
 * from which the event source goes on.
 */
export function createHandler(deps: WakerHandlerDeps) {
  return async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const done = new Set<string>();
    try {
      for (const record of event.Records) {
        for (const place of concernedStreams(toChange(record))) {
          const id = JSON.stringify(place);
          if (done.has(id)) continue;
          try {
            const woken = await wake(place, deps);
            if (woken > 0) deps.telemetry.info('executions_woken', { stream: place.stream, woken });
          } catch (error) {
            deps.telemetry.error('wake_failed', { stream: place.stream, code: errorName(error) });
            return { batchItemFailures: [{ itemIdentifier: record.dynamodb?.SequenceNumber ?? '' }] };
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
