export type { EventSource, EventSourceMapping, MappingSettings } from './event-source-mapping.ts';
export { createLambdaDispatch, type LambdaApiOptions } from './lambda-api.ts';
export {
  createLambdaInvoker,
  type FunctionError,
  functionArn,
  type InvokeOutcome,
  type LambdaFunction,
  type LambdaInvoker,
} from './lambda-invoker.ts';
export { createPipe, type PipeOptions } from './pipe.ts';
export { createScheduler, type ScheduledEvent, type SchedulerOptions } from './scheduler.ts';
export { createSqsEventSource, type QueueSignals, type SqsEventSourceOptions } from './sqs-event-source.ts';
export {
  createStreamEventSource,
  type DeliveryFault,
  type StreamEventSource,
  type StreamEventSourceOptions,
  type StreamReader,
} from './stream-event-source.ts';
export type { FilterPattern } from './stream-filter.ts';
