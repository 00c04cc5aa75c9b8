import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import {
  InvalidToken,
  SendTaskSuccessCommand,
  type SFNClient,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { Waiter } from '../waker/waker.ts';
import { toItem } from './items.ts';

/** Answers a task token; one that can no longer be answered is done with. */
export async function answerToken(client: SFNClient, taskToken: string): Promise<'answered' | 'gone'> {
  try {
    await client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }));
    return 'answered';
  } catch (error) {
    const gone =
      error instanceof TaskTimedOut || error instanceof InvalidToken || error instanceof TaskDoesNotExist;
    if (gone) return 'gone';
    throw error;
  }
}

/** Deletes a waiter row while it holds this very token. */
export async function deleteWaiter(client: DynamoDBClient, tableName: string, waiter: Waiter): Promise<void> {
  try {
    await client.send(
      new DeleteItemCommand({
        TableName: tableName,
        Key: toItem({ PK: waiter.PK, SK: waiter.SK }),
        ConditionExpression: 'taskToken = :token',
        ExpressionAttributeValues: toItem({ ':token': waiter.taskToken }),
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
