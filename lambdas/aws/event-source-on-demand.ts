import type { EventSourceControl } from './event-source.ts';

/** The client of Lambda is a bundle of its own, since it is needed only when the breaker opens or closes. */
export function eventSourceControl(uuid: string): EventSourceControl {
  const control = async () => (await import('./on-demand/event-source.ts')).eventSourceControl(uuid);
  return {
    maxConcurrency: async () => (await control()).maxConcurrency(),
    set: async (enabled, maxConcurrency) => (await control()).set(enabled, maxConcurrency),
  };
}
