/** `stepwell/cdk`: the constructs. */
export { IngressApi, type IngressApiProps, type IngressWebhook } from './constructs/ingress-api.ts';
export type { FunctionTelemetry } from './constructs/worker-function.ts';
export { WorkflowWorker } from './constructs/workflow-worker.ts';
export type {
  ProviderSettings,
  WorkflowWorkerProps,
} from './constructs/workflow-worker-props.ts';
