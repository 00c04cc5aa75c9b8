import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { chooseWorker, parseNames } from '../../cli/stack-names.ts';
import { WorkerDashboard } from '../../lib/constructs/worker-dashboard.ts';
import type { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { testWorker } from '../helpers/template.ts';

/** The output's text as CloudFormation gives it: each reference by the name of what it refers to. */
function rendered(value: unknown): string {
  if (typeof value === 'string') return value;
  const [name, argument]: readonly [string?, unknown?] = Object.entries(Object(value))[0] ?? [];
  if (name === 'Fn::Join' && Array.isArray(argument)) {
    return [argument[1]].flat().map(rendered).join(String(argument[0]));
  }
  return [argument].flat().map(String).join('.');
}

function namesOf(stack: Stack, worker: WorkflowWorker) {
  const id = stack.getLogicalId(worker.output);
  const { [id]: output } = Template.fromStack(stack).findOutputs(id);
  return parseNames(rendered(output?.Value));
}

describe('the output with a worker’s names', () => {
  it('has all that the command line needs', () => {
    const { stack, worker } = testWorker();
    new WorkerDashboard(stack, 'Dashboard', { worker });

    const names = chooseWorker('Test', namesOf(stack, worker), undefined);

    for (const name of ['dashboardName', 'eventSourceId', 'stateMachineLogGroup', 'streamFailureQueueUrl']) {
      expect(names).toHaveProperty(name, expect.stringMatching(/\w/));
    }
    expect(Object.keys(names.functions ?? {})).toEqual(Object.keys(names.logGroups ?? {}));
  });

  it('does not name the dashboard of a stack that needs this one', () => {
    const { stack, worker } = testWorker();
    new WorkerDashboard(new Stack(stack.node.root, 'Other'), 'Dashboard', { worker });

    expect(namesOf(stack, worker)).not.toContainEqual(
      expect.objectContaining({ dashboardName: expect.anything() }),
    );
  });
});
