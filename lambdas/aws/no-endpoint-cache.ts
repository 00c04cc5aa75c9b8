import { ConfigurationError } from '../core/errors.ts';

/**
 * Stands in, in the bundles, for the SDK's cache of discovered endpoints and the collections it is made of: of the
 * services that functions call, DynamoDB alone knows discovery, and does without unless it is asked for.
 */
export class EndpointCache {
  getEndpoint(): never {
    throw new ConfigurationError(
      'AWS_ENABLE_ENDPOINT_DISCOVERY is set, and a function cannot discover endpoints: remove the variable',
    );
  }
}
