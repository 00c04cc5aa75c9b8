import { RoutedError } from '../core/commit-errors.ts';

const THROTTLING = [
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'ThrottledException',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
];
const NETWORK = [
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
];

/** Whether a client's error says that the same call may work later: throttled, unavailable, or not answered. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (THROTTLING.includes(error.name) || error.name === 'TimeoutError') return true;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && NETWORK.includes(code)) return true;
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
      ? metadata.httpStatusCode
      : undefined;
  return typeof status === 'number' && (status >= 500 || status === 429);
}

/**
 * Runs a function's work so that its transient faults have the one name by which the state machine retries them.
 * @throws RoutedError `Throttled`, or whatever else the work threw
 */
export async function routingTransientFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isTransient(error)) {
      throw new RoutedError('Throttled', error instanceof Error ? error.name : 'TransientFault');
    }
    throw error;
  }
}
