import {
  DynamoDBClient,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { transact } from '../../../lambdas/aws/transactions.ts';

function clientThrowing(error: Error | undefined): DynamoDBClient {
  const client = new DynamoDBClient({ region: 'us-east-1' });
  client.middlewareStack.add(
    () => async () => {
      if (error !== undefined) throw error;
      return { response: {}, output: { $metadata: {} } };
    },
    { step: 'initialize' },
  );
  return client;
}

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
const named = (name: string) =>
  new DynamoDBServiceException({ name, $fault: 'client', $metadata: { httpStatusCode: 400 } });

describe('transact', () => {
  it.each([
    ['success', undefined, 'committed'],
    ['a failed condition', cancelled('None', 'ConditionalCheckFailed'), 'GuardFailed'],
    [
      'a failed condition beside a conflict',
      cancelled('TransactionConflict', 'ConditionalCheckFailed'),
      'GuardFailed',
    ],
    ['a conflict', cancelled('None', 'TransactionConflict'), 'CommitConflict'],
    ['throttled items', cancelled('ThrottlingError', 'None'), 'Throttled'],
    ['a refused item', cancelled('ValidationError'), 'PlanRejected'],
    ['a refused request', named('ValidationException'), 'PlanRejected'],
    [
      'a token of another request',
      new IdempotentParameterMismatchException({ $metadata: {}, message: 'mismatch' }),
      'GuardFailed',
    ],
  ])('takes %s as it is meant', async (_what, error, outcome) => {
    await expect(transact(clientThrowing(error), 't', [], 'token')).resolves.toMatchObject({ outcome });
  });

  it('throws what it does not know', async () => {
    const error = named('AccessDeniedException');

    await expect(transact(clientThrowing(error), 't', [], 'token')).rejects.toBe(error);
  });
});
