import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { Effect, ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { INDEXES } from '../../lambdas/core/table.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { functionsOf } from './worker-names.ts';
import { executionsOf, KEY_ACTIONS } from './worker-permissions.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** What an operator may do beyond the everyday. */
export const OPERATOR_EXTRAS = ['forget'] as const;
export type OperatorExtra = (typeof OPERATOR_EXTRAS)[number];

/** Properties of {@link OperatorPolicy}. */
export interface OperatorPolicyProps {
  /** The worker that is operated. */
  readonly worker: WorkflowWorker;
  /**
   * The worker's dashboard, which `stepwell doctor` reads.
   * @default none: doctor says of its lines that they may not be read
   */
  readonly dashboard?: Dashboard;
  /**
   * Rights beyond the everyday. `forget`: erase an aggregate with `stepwell forget`, which writes and deletes any row
   * of the table and all versions of payload objects. For few people; give them a policy of their own.
   * @default none
   */
  readonly allow?: readonly OperatorExtra[];
}

/**
 * A managed policy for those who operate a worker: all that the commands of `stepwell` call but for `forget`, and to
 * stop an execution or answer its task by hand. On this worker only. It lets nobody write the domain's rows; who may
 * redrive dead letters may also send messages, since sending them back is sending.
 */
export class OperatorPolicy extends Construct {
  /** Attach it to the roles of those who operate the worker. */
  readonly policy: ManagedPolicy;

  constructor(scope: Construct, id: string, props: OperatorPolicyProps) {
    super(scope, id);
    const { worker, allow: extras = [] } = props;
    const executions = executionsOf(worker.stateMachine.stateMachine);
    // The stack's own id is known once it is deployed.
    const stack = Stack.of(worker).formatArn({
      service: 'cloudformation',
      resource: 'stack',
      resourceName: `${Stack.of(worker).stackName}/*`,
    });
    this.policy = new ManagedPolicy(this, 'Policy', {
      description: `Operate the worker ${worker.workerName}`,
      statements: [
        allow(['cloudformation:DescribeStacks'], [stack]),
        ...executionRights(worker, executions),
        ...rowRights(worker),
        ...queueRights(worker),
        ...inspectionRights(props),
        ...keyRights(worker),
        ...(extras.includes('forget') ? forgetRights(worker) : []),
      ],
    });
    acknowledgeWildcard(this.policy, stack, 'The stack of this name, whatever id it was deployed under.');
    acknowledgeWildcard(
      this.policy,
      executions,
      'Executions of this machine: their names come with the messages.',
    );
    acknowledge(this.policy, {
      'IAM5[Resource::*]':
        'Lambda binds the listing of event sources and the account’s limits to no resource; alarms may lie in any stack.',
    });
    if (extras.includes('forget')) {
      for (const objects of ['payloads/*', 'payloads/rejected/*']) {
        acknowledgeWildcard(
          this.policy,
          worker.payloadBucket.arnForObjects(objects),
          'Objects are named after their content: their keys are not known before.',
        );
      }
    }
  }
}

const allow = (actions: string[], resources: string[]): PolicyStatement =>
  new PolicyStatement({ effect: Effect.ALLOW, actions, resources });

function executionRights({ stateMachine }: WorkflowWorker, executions: string): readonly PolicyStatement[] {
  const ofExecutions = ['DescribeExecution', 'GetExecutionHistory', 'RedriveExecution', 'StopExecution'];
  const ofMachine = [
    'DescribeStateMachine',
    'ListExecutions',
    'SendTaskFailure',
    'SendTaskSuccess',
    'StartExecution',
  ];
  const named = (names: readonly string[]) => names.map((name) => `states:${name}`);
  return [
    allow(named(ofExecutions), [executions]),
    allow(named(ofMachine), [stateMachine.stateMachine.stateMachineArn]),
  ];
}

function rowRights({ table }: WorkflowWorker): readonly PolicyStatement[] {
  // Cases are closed, effects resolved and their waiters woken, shared answers made void.
  const writes = allow(['dynamodb:DeleteItem', 'dynamodb:UpdateItem'], [table.tableArn]);
  writes.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': ['EFFECT#*', 'QUARANTINE#*'] });
  // A request that names no key must not pass as one whose keys all match.
  writes.addCondition('Null', { 'dynamodb:LeadingKeys': 'false' });
  return [
    allow(
      [
        'dynamodb:BatchGetItem',
        'dynamodb:DescribeContinuousBackups',
        'dynamodb:DescribeTable',
        'dynamodb:DescribeTimeToLive',
        'dynamodb:GetItem',
        'dynamodb:Query',
        'dynamodb:Scan',
      ],
      [table.tableArn],
    ),
    allow(
      ['dynamodb:Query'],
      Object.values(INDEXES).map(({ name }) => `${table.tableArn}/index/${name}`),
    ),
    writes,
  ];
}

function queueRights(worker: WorkflowWorker): readonly PolicyStatement[] {
  const { queue, deadLetterQueue, quarantineQueue, streamFailureQueue } = worker;
  return [
    allow(
      ['sqs:ChangeMessageVisibility', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'],
      [deadLetterQueue.queueArn],
    ),
    allow(
      ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
      [deadLetterQueue.queueArn, quarantineQueue.queueArn],
    ),
    allow(['sqs:GetQueueAttributes', 'sqs:SendMessage'], [queue.queueArn]),
    allow(['sqs:GetQueueAttributes'], [streamFailureQueue.queueArn]),
  ];
}

/** What `stepwell doctor` looks at beside queues, rows and the machine. */
function inspectionRights({ worker, dashboard }: OperatorPolicyProps): readonly PolicyStatement[] {
  return [
    allow(
      ['lambda:GetFunctionConcurrency', 'lambda:GetFunctionConfiguration'],
      Object.values(functionsOf(worker)).map((part) => part.function.functionArn),
    ),
    allow(
      ['s3:GetBucketPublicAccessBlock', 's3:GetBucketVersioning', 's3:GetLifecycleConfiguration'],
      [worker.payloadBucket.bucketArn],
    ),
    allow(
      ['cloudwatch:DescribeAlarms', 'lambda:GetAccountSettings', 'lambda:ListEventSourceMappings'],
      ['*'],
    ),
    ...(dashboard === undefined ? [] : [allow(['cloudwatch:GetDashboard'], [dashboardArn(dashboard)])]),
  ];
}

/** Dashboards belong to no Region. */
const dashboardArn = (dashboard: Dashboard): string =>
  Stack.of(dashboard).formatArn({
    service: 'cloudwatch',
    region: '',
    resource: 'dashboard',
    resourceName: dashboard.dashboardName,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });

/** Messages, rows, histories and settings that customer keys protect. */
function keyRights(worker: WorkflowWorker): readonly PolicyStatement[] {
  const keys = new Set([
    worker.queue.encryptionMasterKey,
    worker.deadLetterQueue.encryptionMasterKey,
    worker.quarantineQueue.encryptionMasterKey,
    worker.table.encryptionKey,
    worker.payloadBucket.encryptionKey,
  ]);
  const arns = [...keys].flatMap((key) => (key === undefined ? [] : [key.keyArn]));
  return arns.length === 0 ? [] : [allow([...KEY_ACTIONS], arns)];
}

/**
 * What `stepwell forget` calls: it deletes rows of any kind or makes them tombstones, and deletes messages of the queues
 * and all versions of objects put aside.
 */
function forgetRights(worker: WorkflowWorker): readonly PolicyStatement[] {
  const { table, payloadBucket, quarantineQueue } = worker;
  return [
    // Notices of others are put back at once.
    allow(['sqs:ChangeMessageVisibility'], [quarantineQueue.queueArn]),
    allow(['dynamodb:DeleteItem', 'dynamodb:PutItem'], [table.tableArn]),
    allow(['s3:ListBucketVersions'], [payloadBucket.bucketArn]),
    allow(['s3:DeleteObjectVersion'], [payloadBucket.arnForObjects('payloads/*')]),
    // A refused message that is too large for its case's row is looked at before it goes.
    allow(['s3:GetObject'], [payloadBucket.arnForObjects('payloads/rejected/*')]),
  ];
}
