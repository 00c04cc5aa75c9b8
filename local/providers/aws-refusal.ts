import type { ProviderAnswer } from './provider-server.ts';

/** An error in the REST JSON protocol of AWS. */
export const awsRefusal = (
  status: number,
  code: string,
  message = 'refused by the local provider',
): ProviderAnswer => ({
  status,
  headers: { 'x-amzn-errortype': `${code}:http://internal.amazon.com/coral/com.amazon.service/` },
  body: { message },
});
