/** Error names and codes that say: nobody there, or nobody who may ask. */
const UNREACHABLE =
  /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|TimeoutError|CredentialsProviderError|UnrecognizedClientException|InvalidClientTokenId|ExpiredToken\w*|InvalidSignatureException)$/;
const DENIED = /^AccessDenied/;

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

/** Neither the endpoint nor AWS answers, or the credentials are not known there. */
export const isUnreachable = (error: Error): boolean =>
  UNREACHABLE.test(codeOf(error)) || UNREACHABLE.test(error.name);

export const isWithoutCredentials = (error: Error): boolean => error.name === 'CredentialsProviderError';

/** The credentials are known, and may not do this. */
export const isDenied = (error: Error): boolean => DENIED.test(codeOf(error)) || DENIED.test(error.name);
