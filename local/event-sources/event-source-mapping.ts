/** What can be read and changed of an event source mapping while it runs, as through Lambda's API. */
export interface EventSourceMapping {
  readonly uuid: string;
  readonly eventSourceArn: string;
  readonly functionName: string;
  readonly settings: () => MappingSettings;
  /** Pauses or resumes; invocations under way go on to their end. */
  setEnabled(enabled: boolean): void;
  /** @throws RangeError for fewer than 2. */
  setMaxConcurrency(maxConcurrency: number): void;
}

export interface MappingSettings {
  readonly enabled: boolean;
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  readonly maxConcurrency?: number;
  readonly reportBatchItemFailures: boolean;
}

/** An event source that can be stopped. */
export interface EventSource {
  /** Takes up nothing more; resolves when what was under way has ended. */
  stop(): Promise<void>;
}
