import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/**
 * What every client is made with. Whoever runs the functions elsewhere than in Lambda (the local runtime, a test)
 * passes an endpoint or a request handler; nothing else differs.
 */
export type ClientSettings = Pick<
  DynamoDBClientConfig,
  'region' | 'endpoint' | 'credentials' | 'requestHandler'
>;

/** Connections fail fast, and an answer that takes longer than any of our calls does is none. */
const CONNECT_MILLIS = 1_000;
const REQUEST_MILLIS = 5_000;

/**
 * One attempt a call: each retry has one owner (the state machine, the queue, the event source), where it is seen,
 * counted and jittered. Retries hidden in a client would multiply with theirs.
 */
export function clientConfig(settings: ClientSettings = {}) {
  return {
    requestHandler: { connectionTimeout: CONNECT_MILLIS, requestTimeout: REQUEST_MILLIS },
    ...settings,
    maxAttempts: 1,
  };
}
