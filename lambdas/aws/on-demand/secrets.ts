import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientConfig } from '../clients.ts';

const client = new SecretsManagerClient(clientConfig());

/** A secret's text; undefined for one that is binary. */
export async function readSecret(secretId: string): Promise<string | undefined> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
  return SecretString;
}
