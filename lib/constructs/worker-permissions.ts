import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { ITable, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { INDEXES } from '../../lambdas/core/table.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import type { WorkerFunction } from './worker-function.ts';
import type { WorkerStateMachine } from './worker-state-machine.ts';

/** What the services call with the caller's rights where a customer key is used. */
export const KEY_ACTIONS = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'];

const UNKNOWN_KEYS =
  'Objects are named after their content or by a message: their keys are not known before.';

/**
 * Who may do what: exactly the actions that a function's code calls, on the worker's own resources. Transactions have
 * no action of their own; they count as the puts, updates, deletes and condition checks in them.
 */
export class WorkerPermissions {
  readonly #table: ITable | Table | TableV2;
  readonly #keys: readonly IKey[];

  constructor(table: ITable | Table | TableV2, keys: readonly IKey[]) {
    this.#table = table;
    this.#keys = keys;
  }

  starter(
    starter: WorkerFunction,
    to: {
      readonly queue: IQueue;
      readonly rejected: IQueue;
      readonly quarantines: boolean;
      readonly payloadBucket: Bucket;
      readonly stateMachineArn: string;
    },
  ): void {
    starter.allow(
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'],
      [to.queue.queueArn],
    );
    starter.allow(['sqs:SendMessage'], [to.rejected.queueArn]);
    this.#rows(
      starter,
      ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      ['IDEMP#*', 'COUNTER#*'],
    );
    if (to.quarantines) this.#rows(starter, ['dynamodb:PutItem'], ['QUARANTINE#*']);
    starter.allow(['s3:PutObject'], [to.payloadBucket.arnForObjects('payloads/*')]);
    acknowledgeWildcard(starter.role, to.payloadBucket.arnForObjects('payloads/*'), UNKNOWN_KEYS);
    starter.allow(['states:StartExecution'], [to.stateMachineArn]);
    this.#useKeys(starter);
  }

  /** Reads, and nothing else: what a handler wants to happen is for Commit to write. */
  plan(plan: WorkerFunction, buckets: readonly (IBucket | Bucket)[]): void {
    plan.allow(['dynamodb:BatchGetItem', 'dynamodb:Query'], [this.#table.tableArn]);
    plan.allow(['dynamodb:Query'], [this.#index(INDEXES.byAggregate.name)]);
    plan.allow(
      ['s3:GetObject', 's3:GetObjectVersion'],
      buckets.map((bucket) => bucket.arnForObjects('*')),
    );
    for (const bucket of buckets) acknowledgeWildcard(plan.role, bucket.arnForObjects('*'), UNKNOWN_KEYS);
    // Without it S3 answers "denied" for an object that is not there yet.
    plan.allow(
      ['s3:ListBucket'],
      buckets.map(({ bucketArn }) => bucketArn),
    );
    this.#useKeys(plan);
  }

  /** Aggregates that live in tables of the domain: Plan reads them, Commit writes them. */
  domainTables(
    plan: WorkerFunction,
    commit: WorkerFunction,
    tables: readonly (ITable | Table | TableV2)[],
  ): void {
    if (tables.length === 0) return;
    const tableArns = tables.map(({ tableArn }) => tableArn);
    for (const { encryptionKey } of tables) {
      if (encryptionKey !== undefined)
        for (const part of [plan, commit]) part.allow(KEY_ACTIONS, [encryptionKey.keyArn]);
    }
    plan.allow(['dynamodb:GetItem'], tableArns);
    commit.allow(['dynamodb:UpdateItem', 'dynamodb:ConditionCheckItem'], tableArns);
  }

  /** Types with `data: 'reference'`: plans and effect requests lie in the bucket instead of in a history. */
  putAside(
    {
      plan,
      commit,
      providers,
    }: {
      readonly plan: WorkerFunction;
      readonly commit: WorkerFunction;
      readonly providers: readonly WorkerFunction[];
    },
    payloadBucket: Bucket,
  ): void {
    const objects = payloadBucket.arnForObjects('payloads/*');
    plan.allow(['s3:PutObject'], [objects]);
    acknowledgeWildcard(plan.role, objects, UNKNOWN_KEYS);
    for (const reader of [commit, ...providers]) {
      reader.allow(['s3:GetObject'], [objects]);
      acknowledgeWildcard(reader.role, objects, UNKNOWN_KEYS);
    }
  }

  commit(commit: WorkerFunction): void {
    commit.allow(
      ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'],
      [this.#table.tableArn],
    );
    this.#useKeys(commit);
  }

  reportFailure(report: WorkerFunction): void {
    this.#rows(report, ['dynamodb:UpdateItem'], ['IDEMP#*']);
    this.#useKeys(report);
  }

  runEffect(run: WorkerFunction, payloadBucket: Bucket): void {
    this.#rows(run, ['dynamodb:PutItem', 'dynamodb:UpdateItem'], ['EFFECT#*']);
    run.allow(['s3:PutObject'], [payloadBucket.arnForObjects('payloads/*')]);
    acknowledgeWildcard(run.role, payloadBucket.arnForObjects('payloads/*'), UNKNOWN_KEYS);
    this.#useKeys(run);
  }

  secret(run: WorkerFunction, secret: ISecret | Secret): void {
    run.allow(['secretsmanager:GetSecretValue'], [secret.secretArn]);
    if (secret.encryptionKey !== undefined) run.allow(['kms:Decrypt'], [secret.encryptionKey.keyArn]);
  }

  waker(
    waker: WorkerFunction,
    to: { readonly streamArn: string; readonly failures: IQueue; readonly stateMachine: WorkerStateMachine },
  ): void {
    waker.allow(
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      [to.streamArn],
    );
    // DynamoDB restricts the listing to no resource.
    waker.allow(['dynamodb:ListStreams'], ['*']);
    acknowledge(waker.role, { 'IAM5[Resource::*]': 'DynamoDB restricts ListStreams to no resource.' });
    waker.allow(['sqs:SendMessage'], [to.failures.queueArn]);
    waker.allow(['dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:DeleteItem'], [this.#table.tableArn]);
    this.#rows(waker, ['dynamodb:PutItem', 'dynamodb:UpdateItem'], ['COUNTER#*']);
    waker.allow(['states:SendTaskSuccess'], [to.stateMachine.stateMachine.stateMachineArn]);
    this.#useKeys(waker);
  }

  reconciler(
    reconciler: WorkerFunction,
    to: {
      readonly stateMachine: WorkerStateMachine;
      readonly quarantineQueue: IQueue;
      readonly eventSourceArn: string;
    },
  ): void {
    const machine = to.stateMachine.stateMachine;
    reconciler.allow(['states:ListExecutions', 'states:SendTaskSuccess'], [machine.stateMachineArn]);
    const executions = executionsOf(machine);
    reconciler.allow(['states:DescribeExecution'], [executions]);
    acknowledgeWildcard(
      reconciler.role,
      executions,
      'The executions of this state machine, whose names come from messages.',
    );
    reconciler.allow(
      [
        'dynamodb:BatchGetItem',
        'dynamodb:ConditionCheckItem',
        'dynamodb:DeleteItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
      ],
      [this.#table.tableArn],
    );
    reconciler.allow(
      ['dynamodb:Query'],
      [this.#index(INDEXES.byAttention.name), this.#index(INDEXES.byAggregate.name)],
    );
    reconciler.allow(['sqs:SendMessage'], [to.quarantineQueue.queueArn]);
    reconciler.allow(
      ['lambda:GetEventSourceMapping', 'lambda:UpdateEventSourceMapping'],
      [to.eventSourceArn],
    );
    this.#useKeys(reconciler);
  }

  stateMachine(machine: WorkerStateMachine): void {
    for (const key of this.#keys) {
      machine.role.addToPolicy(new PolicyStatement({ actions: KEY_ACTIONS, resources: [key.keyArn] }));
    }
  }

  /** Actions on the rows whose partition key begins as given. */
  #rows(to: WorkerFunction, actions: readonly string[], keys: readonly string[]): void {
    to.allow(actions, [this.#table.tableArn], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys },
      // A request that names no key must not pass as one whose keys all match.
      Null: { 'dynamodb:LeadingKeys': 'false' },
    });
  }

  #index(name: string): string {
    return `${this.#table.tableArn}/index/${name}`;
  }

  #useKeys(to: WorkerFunction): void {
    if (this.#keys.length > 0) {
      to.allow(
        KEY_ACTIONS,
        this.#keys.map(({ keyArn }) => keyArn),
      );
    }
  }
}

/** The ARNs of a state machine's executions. */
export const executionsOf = (machine: StateMachine): string =>
  Stack.of(machine).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${machine.stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
