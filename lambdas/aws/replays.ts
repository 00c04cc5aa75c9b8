import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { inboxKey } from '../core/table.ts';
import type { ReplayWrite } from '../report-failure/report-failure.ts';
import { toItem } from './items.ts';

/**
 * Begins a replay on the inbox row.
 *
 * - `requestHash = :hash`: the row is this work's · `status <> COMPLETED`: final is final
 * - no `forgottenAt`: a tombstone stays one
 * - `replayId <> :replayId`: an invocation that Step Functions repeats counts the replay once
 */
export async function beginReplay(
  client: DynamoDBClient,
  tableName: string,
  worker: string,
  write: ReplayWrite,
): Promise<boolean> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: toItem({ ...inboxKey(write.idempotencyKey, worker) }),
        UpdateExpression:
          'SET #status = :processing, replays = if_not_exists(replays, :zero) + :one, totalAttempts = if_not_exists(totalAttempts, :zero) + if_not_exists(attempts, :zero), attempts = :zero, replayId = :replayId, executionName = :execution REMOVE #ttl',
        ConditionExpression:
          'requestHash = :hash AND #status <> :completed AND attribute_not_exists(forgottenAt) AND (attribute_not_exists(replayId) OR replayId <> :replayId)',
        ExpressionAttributeNames: { '#status': 'status', '#ttl': 'ttl' },
        ExpressionAttributeValues: toItem({
          ':processing': 'PROCESSING',
          ':completed': 'COMPLETED',
          ':hash': write.requestHash,
          ':replayId': write.replayId,
          ':execution': write.executionName,
          ':zero': 0,
          ':one': 1,
        }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
