import { fileURLToPath } from 'node:url';
import { App, Stack } from 'aws-cdk-lib';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';

const MESSAGES_ENTRY = fileURLToPath(new URL('../../lambdas/messages/index.ts', import.meta.url));

/** An app whose functions are not bundled: for tests that look at templates only. */
export const unbundledApp = (): App => new App({ context: { 'aws:cdk:bundling-stacks': [] } });

/** A worker with the shipped message types, in a stack of its own. */
export function testWorker(props: Partial<WorkflowWorkerProps> = {}): {
  readonly stack: Stack;
  readonly worker: WorkflowWorker;
} {
  const stack = new Stack(unbundledApp(), 'Test');
  const worker = new WorkflowWorker(stack, 'Worker', { messages, messagesEntry: MESSAGES_ENTRY, ...props });
  return { stack, worker };
}
