import {
  GetEventSourceMappingCommand,
  type LambdaClient,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';

/** The event source mapping between the queue and the starter. */
export interface EventSourceControl {
  /** The most concurrent invocations; undefined when there is no limit of its own. */
  maxConcurrency(): Promise<number | undefined>;
  /** @param maxConcurrency left as it is when undefined */
  set(enabled: boolean, maxConcurrency?: number): Promise<void>;
}

export function createEventSourceControl(client: LambdaClient, uuid: string): EventSourceControl {
  return {
    async maxConcurrency() {
      const { ScalingConfig } = await client.send(new GetEventSourceMappingCommand({ UUID: uuid }));
      return ScalingConfig?.MaximumConcurrency;
    },
    async set(enabled, maxConcurrency) {
      await client.send(
        new UpdateEventSourceMappingCommand({
          UUID: uuid,
          Enabled: enabled,
          ...(maxConcurrency === undefined ? {} : { ScalingConfig: { MaximumConcurrency: maxConcurrency } }),
        }),
      );
    },
  };
}
