import { Effect, ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { INDEXES } from '../../lambdas/core/table.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { executionsOf } from './worker-permissions.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** Properties of {@link OperatorPolicy}. */
export interface OperatorPolicyProps {
  /** The worker that is operated. */
  readonly worker: WorkflowWorker;
}

/**
 * A managed policy for those who operate a worker: look at its executions, rows and queues, redrive, replay and answer
 * effects in doubt. On this worker only; it lets nobody write the domain's rows.
 */
export class OperatorPolicy extends Construct {
  readonly policy: ManagedPolicy;

  constructor(scope: Construct, id: string, { worker }: OperatorPolicyProps) {
    super(scope, id);
    const { queue, deadLetterQueue, quarantineQueue, table } = worker;
    const machine = worker.stateMachine.stateMachine.stateMachineArn;
    const executions = executionsOf(worker.stateMachine.stateMachine);
    const allow = (actions: string[], resources: string[]) =>
      new PolicyStatement({ effect: Effect.ALLOW, actions, resources });
    const rows = allow(['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'], [table.tableArn]);
    rows.addCondition('ForAllValues:StringLike', {
      'dynamodb:LeadingKeys': ['IDEMP#*', 'EFFECT#*', 'QUARANTINE#*'],
    });
    rows.addCondition('Null', { 'dynamodb:LeadingKeys': 'false' });
    this.policy = new ManagedPolicy(this, 'Policy', {
      description: `Operate the worker ${worker.workerName}`,
      statements: [
        allow(
          [
            'states:DescribeExecution',
            'states:GetExecutionHistory',
            'states:RedriveExecution',
            'states:StopExecution',
          ],
          [executions],
        ),
        allow(
          [
            'states:DescribeStateMachine',
            'states:ListExecutions',
            'states:SendTaskFailure',
            'states:SendTaskHeartbeat',
            'states:SendTaskSuccess',
            'states:StartExecution',
          ],
          [machine],
        ),
        allow(
          [
            'dynamodb:BatchGetItem',
            'dynamodb:DescribeContinuousBackups',
            'dynamodb:DescribeTable',
            'dynamodb:DescribeTimeToLive',
            'dynamodb:GetItem',
            'dynamodb:Query',
          ],
          [table.tableArn, ...Object.values(INDEXES).map(({ name }) => `${table.tableArn}/index/${name}`)],
        ),
        rows,
        allow(
          [
            'sqs:ChangeMessageVisibility',
            'sqs:DeleteMessage',
            'sqs:GetQueueAttributes',
            'sqs:ListMessageMoveTasks',
            'sqs:ReceiveMessage',
            'sqs:StartMessageMoveTask',
          ],
          [deadLetterQueue.queueArn, quarantineQueue.queueArn],
        ),
        allow(['sqs:GetQueueAttributes', 'sqs:SendMessage'], [queue.queueArn]),
        allow(['lambda:GetFunctionConfiguration'], [worker.starter.function.functionArn]),
        // The service offers no resource for this one.
        allow(['lambda:ListEventSourceMappings'], ['*']),
      ],
    });
    acknowledgeWildcard(
      this.policy,
      executions,
      'Executions of this machine: their names come with the messages.',
    );
    acknowledge(this.policy, {
      'IAM5[Resource::*]': 'lambda:ListEventSourceMappings is bound to no resource by the service.',
    });
  }
}
