/** An error that the API answers with. */
export class SqsError extends Error {
  override readonly name = 'SqsError';
  /** The shape's name in the JSON protocol, e.g. `QueueDoesNotExist`. */
  readonly code: string;
  /** The code of the older query protocol, which the SDK shows as `error.Code`. */
  readonly queryCode: string;
  readonly status: number;

  constructor(code: string, message: string, queryCode: string = code, status = 400) {
    super(message);
    this.code = code;
    this.queryCode = queryCode;
    this.status = status;
  }
}

const LEGACY = 'AWS.SimpleQueueService';

export const queueDoesNotExist = () =>
  new SqsError('QueueDoesNotExist', 'The specified queue does not exist.', `${LEGACY}.NonExistentQueue`);

export const invalidParameter = (message: string) => new SqsError('InvalidParameterValue', message);

/** A value outside its documented range. */
export const invalidValue = (parameter: string, value: unknown, reason: string) =>
  invalidParameter(`Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}`);

export const missingParameter = (parameter: string) =>
  new SqsError('MissingParameter', `The request must contain the parameter ${parameter}.`);

export const invalidAttributeName = (name: string) =>
  new SqsError('InvalidAttributeName', `Unknown Attribute ${name}.`);

export const invalidAttributeValue = (name: string, reason?: string) =>
  new SqsError(
    'InvalidAttributeValue',
    `Invalid value for the parameter ${name}.${reason === undefined ? '' : ` Reason: ${reason}`}`,
  );

export const receiptHandleInvalid = (handle: string) =>
  new SqsError(
    'ReceiptHandleIsInvalid',
    `The input receipt handle "${handle}" is not a valid receipt handle.`,
    'ReceiptHandleIsInvalid',
    404,
  );

export const messageNotInflight = () =>
  new SqsError(
    'MessageNotInflight',
    'The message referred to is not in flight.',
    `${LEGACY}.MessageNotInflight`,
  );

export const resourceNotFound = (message: string) =>
  new SqsError('ResourceNotFoundException', message, 'ResourceNotFoundException', 404);

export const batchError = (
  code:
    | 'EmptyBatchRequest'
    | 'TooManyEntriesInBatchRequest'
    | 'BatchEntryIdsNotDistinct'
    | 'InvalidBatchEntryId'
    | 'BatchRequestTooLong',
  message: string,
) => new SqsError(code, message, `${LEGACY}.${code}`);

export const invalidContents = () =>
  new SqsError('InvalidMessageContents', 'The message contains characters outside the allowed set.');

export const overLimit = (message: string) => new SqsError('OverLimit', message, 'OverLimit', 403);

export const purgeInProgress = (name: string) =>
  new SqsError(
    'PurgeQueueInProgress',
    `Only one PurgeQueue operation on ${name} is allowed every 60 seconds.`,
    `${LEGACY}.PurgeQueueInProgress`,
    403,
  );

export const queueNameExists = (attribute: string) =>
  new SqsError(
    'QueueNameExists',
    `A queue already exists with the same name and a different value for attribute ${attribute}`,
    'QueueAlreadyExists',
  );

export const unsupportedOperation = (message: string) =>
  new SqsError('UnsupportedOperation', message, `${LEGACY}.UnsupportedOperation`);
