/** Few providers have a secret: the client is a bundle of its own. */
export const readSecret = async (secretId: string): Promise<string | undefined> =>
  (await import('./on-demand/secrets.ts')).readSecret(secretId);
