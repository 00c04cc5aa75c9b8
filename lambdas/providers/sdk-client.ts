import { type ClientSettings, clientConfig } from '../aws/clients.ts';
import type { ProviderContext } from '../core/provider.ts';
import { endpointOf } from './endpoint.ts';

/** Nothing else ends a connection that does not come about. */
const CONNECT_MILLIS = 1_000;

/**
 * What an AWS client of a provider is made with: one attempt, no time-out but the connection's (the call's signal is
 * the other), and region, credentials and endpoint as the function's environment has them. What it has not is left to
 * the SDK.
 *
 * No connection is kept: one that was closed while the function was frozen would leave a call in doubt that was never
 * read.
 *
 * @param endpointVariable @default there, the service's own endpoint
 * @throws ConfigurationError when the endpoint is neither https nor on loopback
 */
export function sdkClientConfig(
  env: ProviderContext['env'],
  endpointVariable: string,
  settings: ClientSettings = {},
) {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const keys =
    AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined
      ? undefined
      : { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  const token = AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN };
  return clientConfig({
    requestHandler: {
      connectionTimeout: CONNECT_MILLIS,
      socketTimeout: 0,
      httpAgent: { keepAlive: false },
      httpsAgent: { keepAlive: false },
    },
    ...(AWS_REGION === undefined ? {} : { region: AWS_REGION }),
    ...(keys === undefined ? {} : { credentials: { ...keys, ...token } }),
    ...(env[endpointVariable] === undefined ? {} : { endpoint: endpointOf(env, endpointVariable).href }),
    ...settings,
  });
}
