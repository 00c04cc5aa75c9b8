import {
  type CancellationReason,
  type DynamoDBClient,
  IdempotentParameterMismatchException,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { TransactionItem, TransactionOutcome } from '../core/transaction.ts';
import { expressionInput, toItem } from './items.ts';

/**
 * Runs a transaction and reads its answer.
 * @param token ClientRequestToken: 1–36 characters
 */
export async function transact(
  client: DynamoDBClient,
  tableName: string,
  items: readonly TransactionItem[],
  token: string,
): Promise<TransactionOutcome> {
  try {
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: items.map((item) => toAction(item, tableName)),
        ClientRequestToken: token,
      }),
    );
    return { outcome: 'committed' };
  } catch (error) {
    if (error instanceof TransactionCanceledException) return cancelled(error.CancellationReasons ?? []);
    if (error instanceof IdempotentParameterMismatchException) {
      return { outcome: 'GuardFailed', reasons: [error.name] };
    }
    if (error instanceof Error && error.name === 'ValidationException') {
      return { outcome: 'PlanRejected', reasons: [error.name] };
    }
    throw error;
  }
}

/**
 * A failed condition means that Plan has to look again, whatever else went wrong; a conflict alone, that the guard
 * may still hold.
 */
function cancelled(reasons: readonly CancellationReason[]): TransactionOutcome {
  const codes = reasons.map(({ Code }) => Code ?? 'None');
  if (codes.includes('ConditionalCheckFailed')) return { outcome: 'GuardFailed', reasons: codes };
  if (codes.includes('TransactionConflict')) return { outcome: 'CommitConflict', reasons: codes };
  const rejected = codes.includes('ValidationError') || codes.includes('ItemCollectionSizeLimitExceeded');
  return { outcome: rejected ? 'PlanRejected' : 'Throttled', reasons: codes };
}

function toAction(item: TransactionItem, workerTable: string): TransactWriteItem {
  const tableName = ('table' in item ? item.table : undefined) ?? workerTable;
  switch (item.action) {
    case 'Put':
      return {
        Put: {
          TableName: tableName,
          Item: toItem(item.item),
          ...expressionInput({ condition: item.condition }),
        },
      };
    case 'Update': {
      const { UpdateExpression = '', ...input } = expressionInput(item);
      return { Update: { TableName: tableName, Key: toItem({ ...item.key }), UpdateExpression, ...input } };
    }
    case 'Delete':
      return {
        Delete: {
          TableName: tableName,
          Key: toItem({ ...item.key }),
          ...expressionInput({ condition: item.condition }),
        },
      };
    case 'ConditionCheck': {
      const { ConditionExpression = '', ...input } = expressionInput({ condition: item.condition });
      return {
        ConditionCheck: { TableName: tableName, Key: toItem({ ...item.key }), ConditionExpression, ...input },
      };
    }
  }
}
