import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { OperatorPolicy } from '../../lib/constructs/operator-policy.ts';
import { testWorker } from '../helpers/template.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

function statementsOf(): readonly Statement[] {
  const { stack, worker } = testWorker();
  new OperatorPolicy(stack, 'Operators', { worker });
  const [policy] = Object.values(Template.fromStack(stack).findResources('AWS::IAM::ManagedPolicy'));
  return policy?.Properties.PolicyDocument.Statement;
}

describe('OperatorPolicy', () => {
  const statements = statementsOf();
  const allowing = (action: string) => statements.filter(({ Action }) => [Action].flat().includes(action));

  it.each([
    'states:RedriveExecution',
    'states:DescribeExecution',
    'states:ListExecutions',
    'states:SendTaskSuccess',
    'states:SendTaskFailure',
  ])('lets operators call %s on this machine only', (action) => {
    const found = allowing(action);
    expect(found).toHaveLength(1);
    const resource = JSON.stringify(found[0]?.Resource);
    expect(resource).toContain('WorkerStateMachine');
    expect(resource).not.toBe('"*"');
  });

  it('has no action or resource with a wildcard but for listing event sources', () => {
    for (const { Action, Resource } of statements) {
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      if (Resource === '*') expect(Action).toBe('lambda:ListEventSourceMappings');
    }
  });

  it('writes no row of the domain', () => {
    for (const action of ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']) {
      for (const { Condition } of allowing(action)) {
        expect(Condition).toEqual({
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['IDEMP#*', 'EFFECT#*', 'QUARANTINE#*'] },
          Null: { 'dynamodb:LeadingKeys': 'false' },
        });
      }
      expect(allowing(action)).toHaveLength(1);
    }
  });
});
