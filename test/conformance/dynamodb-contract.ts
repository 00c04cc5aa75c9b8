import { conditionalWrites } from './dynamodb-contract/conditional-writes.ts';
import { reads } from './dynamodb-contract/reads.ts';
import type { Subject } from './dynamodb-contract/setup.ts';
import { transactions } from './dynamodb-contract/transactions.ts';
import { updateExpressions } from './dynamodb-contract/update-expressions.ts';
import { values } from './dynamodb-contract/values.ts';

/** Everything that Stepwell relies on of DynamoDB, as tests that any implementation of it must pass. */
export function dynamoDbContract(subject: Subject): void {
  conditionalWrites(subject);
  updateExpressions(subject);
  transactions(subject);
  values(subject);
  reads(subject);
}
