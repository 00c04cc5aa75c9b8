import type { Clock, Random } from '../../lambdas/core/clock.ts';
import type { InProcessRequestHandler } from './request-handler.ts';
import { type ClockRetryStrategy, createClockRetryStrategy } from './retry-strategy.ts';

/** Region and account of everything in the local runtime. */
export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';

/** Options for any AWS SDK v3 client, complete enough that it reads neither environment nor files. */
export interface InProcessClientConfig {
  readonly region: string;
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly requestHandler: InProcessRequestHandler;
  readonly retryStrategy: ClockRetryStrategy;
  readonly maxAttempts: number;
  readonly retryMode: 'standard';
  readonly defaultsMode: 'standard';
  readonly useDualstackEndpoint: false;
  readonly useFipsEndpoint: false;
  readonly signer: { sign<T>(request: T): Promise<T> };
}

/** Nobody in this process checks a signature, and computing one costs more than most calls do. */
const UNSIGNED = { sign: <T>(request: T): Promise<T> => Promise.resolve(request) };

/** Configuration of a client whose calls go through `requestHandler` and whose retries wait on `clock`. */
export function inProcessClientConfig(options: {
  readonly requestHandler: InProcessRequestHandler;
  readonly clock: Clock;
  readonly random: Random;
  /** @default 3 */
  readonly maxAttempts?: number;
}): InProcessClientConfig {
  const { requestHandler, clock, random, maxAttempts = 3 } = options;
  return {
    region: LOCAL_REGION,
    endpoint: 'http://127.0.0.1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler,
    retryStrategy: createClockRetryStrategy({ clock, random, maxAttempts }),
    maxAttempts,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    signer: UNSIGNED,
  };
}
