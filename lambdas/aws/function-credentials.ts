import { ConfigurationError } from '../core/errors.ts';

/**
 * Stands in for the SDK's credential chain in the bundles: Lambda hands a function its credentials in the
 * environment, and files, single sign-on, metadata services and roles by web identity are never asked.
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined) {
    throw new ConfigurationError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set in the environment',
    );
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  };
};
