import { ConfigurationError } from '../core/errors.ts';

/**
 * Takes the place of the SDK's cache of discovered endpoints in the bundles, and saves the collections that it is made
 * of. Of the services that functions call, DynamoDB alone has such endpoints, and uses none unless a variable says so.
 */
export class EndpointCache {
  getEndpoint(): never {
    throw new ConfigurationError(
      'AWS_ENABLE_ENDPOINT_DISCOVERY is set, and a function cannot discover endpoints: remove the variable',
    );
  }
}
