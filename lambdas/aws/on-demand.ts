/**
 * Calls of services that few messages need. Each module that is imported here by name becomes a bundle of its own
 * beside the function's, with the client that it calls by: read at the first such call, and not whenever a function
 * starts.
 */
import type { EventSourceControl } from './event-source.ts';
import type { GetObject } from './get-object.ts';
import type { PutObject } from './put-object.ts';

export const getObject: GetObject = async (ref, maxBytes) =>
  (await import('./on-demand/get-object.ts')).getObject(ref, maxBytes);

export const putObject: PutObject = async (object) =>
  (await import('./on-demand/put-object.ts')).putObject(object);

export function eventSourceControl(uuid: string): EventSourceControl {
  const control = async () => (await import('./on-demand/event-source.ts')).eventSourceControl(uuid);
  return {
    maxConcurrency: async () => (await control()).maxConcurrency(),
    set: async (enabled, maxConcurrency) => (await control()).set(enabled, maxConcurrency),
  };
}

export const readSecret = async (secretId: string): Promise<string | undefined> =>
  (await import('./on-demand/secrets.ts')).readSecret(secretId);
