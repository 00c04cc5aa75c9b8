/** `stepwell/cdk`: the constructs. */
export { type Capacity, type CapacityInput, capacity } from './capacity.ts';
export { WorkerChecks } from './checks/worker-checks.ts';
export { IngressApi, type IngressApiProps, type IngressWebhook } from './constructs/ingress-api.ts';
export { OperatorPolicy, type OperatorPolicyProps } from './constructs/operator-policy.ts';
export { OutboxPipe, type OutboxPipeProps } from './constructs/outbox-pipe.ts';
export { WorkerAlarms, type WorkerAlarmsProps } from './constructs/worker-alarms.ts';
export { WorkerDashboard, type WorkerDashboardProps } from './constructs/worker-dashboard.ts';
export type { FunctionTelemetry } from './constructs/worker-function.ts';
export { WorkerQueries, type WorkerQueriesProps } from './constructs/worker-queries.ts';
export { WorkflowWorker } from './constructs/workflow-worker.ts';
export type {
  AggregateTable,
  ProviderSettings,
  WorkflowWorkerProps,
} from './constructs/workflow-worker-props.ts';
export { WorkerStack, type WorkerStackProps } from './worker-stack.ts';
