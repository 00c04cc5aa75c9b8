import { callSigned, type SignedClient } from './signed-call.ts';

/** A secret's text; undefined for one that is binary. */
export async function readSecret(client: SignedClient, secretId: string): Promise<string | undefined> {
  const { bytes } = await callSigned(client, {
    service: 'secretsmanager',
    operation: 'GetSecretValue',
    method: 'POST',
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'secretsmanager.GetSecretValue',
    },
    body: new TextEncoder().encode(JSON.stringify({ SecretId: secretId })),
  });
  const { SecretString }: { readonly SecretString?: string | null } = JSON.parse(
    new TextDecoder().decode(await bytes()),
  );
  return SecretString ?? undefined;
}
