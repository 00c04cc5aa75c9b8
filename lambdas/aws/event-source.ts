import { callSigned, encodeSegment, type SignedClient } from './signed-call.ts';

/** The event source mapping between the queue and the starter. */
export interface EventSourceControl {
  /** The most concurrent invocations; undefined when there is no limit of its own. */
  maxConcurrency(): Promise<number | undefined>;
  /** @param maxConcurrency left as it is when undefined */
  set(enabled: boolean, maxConcurrency?: number): Promise<void>;
}

export function createEventSourceControl(client: SignedClient, uuid: string): EventSourceControl {
  const path = `/2015-03-31/event-source-mappings/${encodeSegment(uuid)}`;
  return {
    async maxConcurrency() {
      const { bytes } = await callSigned(client, {
        service: 'lambda',
        operation: 'GetEventSourceMapping',
        method: 'GET',
        path,
      });
      const mapping: { readonly ScalingConfig?: { readonly MaximumConcurrency?: number } | null } =
        JSON.parse(new TextDecoder().decode(await bytes()));
      return mapping.ScalingConfig?.MaximumConcurrency;
    },
    async set(enabled, maxConcurrency) {
      const change = {
        Enabled: enabled,
        ...(maxConcurrency === undefined ? {} : { ScalingConfig: { MaximumConcurrency: maxConcurrency } }),
      };
      const { bytes } = await callSigned(client, {
        service: 'lambda',
        operation: 'UpdateEventSourceMapping',
        method: 'PUT',
        path,
        headers: { 'content-type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(change)),
      });
      await bytes();
    },
  };
}
