import type { Item } from './types.ts';

const SERVICE = 'com.amazonaws.dynamodb.v20120810#';
const NAMESPACES: Readonly<Record<string, string>> = {
  ValidationException: 'com.amazon.coral.validate#',
  SerializationException: 'com.amazon.coral.service#',
  UnknownOperationException: 'com.amazon.coral.service#',
};

/** Why one action of a transaction was refused; in the request's order, `None` where it was not. */
export interface CancellationReason {
  Code: string;
  Message?: string;
  Item?: Item;
}

/** An error answer of the DynamoDB API: HTTP 400 with the service's name for it and its members. */
export class DynamoDbError extends Error {
  readonly members: Readonly<Record<string, unknown>>;

  constructor(name: string, message: string, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = name;
    this.members = members;
  }

  /** The body as the wire carries it. */
  body(): Record<string, unknown> {
    const type = `${NAMESPACES[this.name] ?? SERVICE}${this.name}`;
    return this.name === 'TransactionCanceledException'
      ? { __type: type, Message: this.message, ...this.members }
      : { __type: type, message: this.message, ...this.members };
  }
}

export function validationError(message: string): DynamoDbError {
  return new DynamoDbError('ValidationException', message);
}

/** A part of the API that the embedded store leaves out: refused by name, never ignored. */
export function unsupported(what: string, instead: string): DynamoDbError {
  return validationError(`${what} is not supported by the embedded DynamoDB: ${instead}`);
}

export function tableNotFound(tableName: string, named: boolean): DynamoDbError {
  return new DynamoDbError(
    'ResourceNotFoundException',
    named ? `Requested resource not found: Table: ${tableName} not found` : 'Requested resource not found',
  );
}

export function conditionFailed(old: Item | undefined): DynamoDbError {
  return new DynamoDbError(
    'ConditionalCheckFailedException',
    'The conditional request failed',
    old === undefined ? {} : { Item: old },
  );
}

export function transactionConflict(): DynamoDbError {
  return new DynamoDbError('TransactionConflictException', 'Transaction is ongoing for the item');
}

export function transactionCanceled(reasons: readonly CancellationReason[]): DynamoDbError {
  const codes = reasons.map((reason) => reason.Code).join(', ');
  return new DynamoDbError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}
