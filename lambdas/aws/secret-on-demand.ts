/** The client of Secrets Manager is a bundle of its own, since few providers have a secret. */
export const readSecret = async (secretId: string): Promise<string | undefined> =>
  (await import('./on-demand/secrets.ts')).readSecret(secretId);
