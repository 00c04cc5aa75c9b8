import { fileURLToPath } from 'node:url';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';

/** Absolute path of a folder's module under `lambdas/`. */
export const entryOf = (folder: string): string =>
  fileURLToPath(new URL(`../../lambdas/${folder}/index.ts`, import.meta.url));

/** A path that exists: what lies there matters only where it is bundled. */
export const MESSAGES_ENTRY = entryOf('messages');

/** An app that synthesises without bundling. */
export const quickApp = (): App =>
  new App({ analyticsReporting: false, context: { 'aws:cdk:bundling-stacks': [] } });

export const workerProps = (overrides: Partial<WorkflowWorkerProps> = {}): WorkflowWorkerProps => ({
  messages,
  messagesEntry: MESSAGES_ENTRY,
  ...overrides,
});

/** A stack of one worker with its template. */
export function synthesise(overrides: Partial<WorkflowWorkerProps> = {}) {
  const stack = new Stack(quickApp(), 'Test');
  const worker = new WorkflowWorker(stack, 'Worker', workerProps(overrides));
  return { stack, worker, template: Template.fromStack(stack) };
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** The statements of every policy attached to a role. */
export function statementsOf(template: Template, roleLogicalId: string): readonly Statement[] {
  return Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) =>
      Properties.Roles.some((role: { readonly Ref?: string }) => role.Ref === roleLogicalId),
    )
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

/** The actions among those statements, in alphabetical order. */
export function actionsOf(template: Template, roleLogicalId: string): readonly string[] {
  const actions = statementsOf(template, roleLogicalId).flatMap(({ Action }) => Action);
  return [...new Set(actions)].sort();
}
