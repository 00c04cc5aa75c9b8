import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkflowWorker } from '../../lib/index.ts';

it('gives the starter what its sources need, and lets them replace none of the worker’s own variables', () => {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Stack');
  new WorkflowWorker(stack, 'Worker', {
    messages,
    messagesEntry: new URL('../../lambdas/messages/index.ts', import.meta.url).pathname,
    sourcesEntry: new URL('../../lambdas/sources/index.ts', import.meta.url).pathname,
    sourcesEnvironment: { PAYMENT_SECRET: 's', INVALID_MESSAGES: 'quarantine' },
  });
  const template = Template.fromStack(stack);

  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ PAYMENT_SECRET: 's', INVALID_MESSAGES: 'dlq' }) },
  });
  const functions = Object.values(template.findResources('AWS::Lambda::Function'));
  expect(functions.filter((resource) => JSON.stringify(resource).includes('PAYMENT_SECRET'))).toHaveLength(1);
});
