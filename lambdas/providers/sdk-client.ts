import { type ClientSettings, clientConfig } from '../aws/clients.ts';
import type { ProviderContext } from '../core/provider.ts';
import { endpointOf } from './endpoint.ts';

/**
 * What an AWS client of a provider is made with: one attempt, and region, credentials and endpoint as the function's
 * environment has them. What it has not is left to the SDK.
 *
 * @param endpointVariable where it is not set, the service's own endpoint is taken
 * @throws ConfigurationError when the endpoint is neither https nor on loopback
 */
export function sdkClientConfig(
  env: ProviderContext['env'],
  endpointVariable: string,
  settings: ClientSettings,
) {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const keys =
    AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined
      ? undefined
      : { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  const token = AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN };
  return clientConfig({
    ...(AWS_REGION === undefined ? {} : { region: AWS_REGION }),
    ...(keys === undefined ? {} : { credentials: { ...keys, ...token } }),
    ...(env[endpointVariable] === undefined ? {} : { endpoint: endpointOf(env, endpointVariable).href }),
    ...settings,
  });
}
