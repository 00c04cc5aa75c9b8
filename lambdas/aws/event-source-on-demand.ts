import type { EventSourceControl } from './event-source.ts';

/** Lambda is called only when the breaker opens or closes: its client is a bundle of its own. */
export function eventSourceControl(uuid: string): EventSourceControl {
  const control = async () => (await import('./on-demand/event-source.ts')).eventSourceControl(uuid);
  return {
    maxConcurrency: async () => (await control()).maxConcurrency(),
    set: async (enabled, maxConcurrency) => (await control()).set(enabled, maxConcurrency),
  };
}
