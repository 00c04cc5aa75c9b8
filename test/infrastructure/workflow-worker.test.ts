import { fileURLToPath } from 'node:url';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';

const MESSAGES_ENTRY = fileURLToPath(new URL('../../lambdas/messages/index.ts', import.meta.url));

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

function synthesise(props: Partial<WorkflowWorkerProps> = {}): {
  template: Template;
  worker: WorkflowWorker;
} {
  // Assets are left out: their content is another test's matter.
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'Test');
  const worker = new WorkflowWorker(stack, 'Worker', { messages, messagesEntry: MESSAGES_ENTRY, ...props });
  return { template: Template.fromStack(stack), worker };
}

/** Statements of the policies attached to a role, found by a part of the role's logical id. */
function statementsOf(template: Template, role: string): readonly Statement[] {
  return Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

const actionsOf = (statements: readonly Statement[]): readonly string[] =>
  statements.flatMap(({ Action }) => Action);

describe('WorkflowWorker', () => {
  const { template } = synthesise();

  it('lets the starter report single failures and limits it', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });

  it('hides received messages for six times the starter’s time-out and gives them up after 100 receives', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: 180,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 100 }),
    });
  });

  it('encrypts every queue and admits TLS only', () => {
    const queues = template.findResources('AWS::SQS::Queue');
    const policies = Object.values(template.findResources('AWS::SQS::QueuePolicy'));
    for (const [id, { Properties }] of Object.entries(queues)) {
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
      const policy = policies.find((one) => JSON.stringify(one.Properties.Queues).includes(id));
      expect(policy?.Properties.PolicyDocument.Statement, id).toContainEqual(
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      );
    }
  });

  it('keeps every version of the table for a time and protects it', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      BillingMode: 'PAY_PER_REQUEST',
    });
  });

  it('gives the payload bucket versions, encryption and no public access', () => {
    template.hasResourceProperties('AWS::S3::Bucket', {
      VersioningConfiguration: { Status: 'Enabled' },
      BucketEncryption: Match.anyValue(),
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  it('logs executions under the vended prefix, errors only and without data', () => {
    const groups = Object.values(template.findResources('AWS::Logs::LogGroup'));
    expect(groups.map(({ Properties }) => JSON.stringify(Properties.LogGroupName ?? ''))).toContainEqual(
      expect.stringContaining('/aws/vendedlogs/states/'),
    );
    template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      LoggingConfiguration: { Level: 'ERROR', IncludeExecutionData: false },
    });
  });

  it('runs every function on Node.js 24 and arm64', () => {
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    expect(functions.length).toBeGreaterThanOrEqual(6);
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
    }
  });

  it('names nothing physically, save the log group whose prefix matters', () => {
    const resources: Record<string, { Type: string; Properties?: Record<string, unknown> }> =
      template.toJSON().Resources;
    const named = Object.entries(resources).filter(([, { Properties = {} }]) =>
      ['BucketName', 'FunctionName', 'QueueName', 'RoleName', 'StateMachineName', 'TableName'].some(
        (name) => typeof Properties[name] === 'string',
      ),
    );
    expect(named).toEqual([]);
  });

  it('lets Plan read the table and write nothing to it', () => {
    const actions = actionsOf(statementsOf(template, 'WorkerPlanRole'));
    expect(actions).toContain('dynamodb:BatchGetItem');
    expect(actions.filter((action) => /^dynamodb:.*(Put|Update|Delete|Write)/.test(action))).toEqual([]);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  it('lets Commit write and neither read items nor call anything else', () => {
    const actions = actionsOf(statementsOf(template, 'WorkerCommitRole'));
    expect(actions.filter((action) => action.startsWith('dynamodb:')).sort()).toEqual([
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
    ]);
  });

  it('lets the starter touch inbox rows and counters alone', () => {
    const statements = statementsOf(template, 'WorkerStarterRole').filter(({ Action }) =>
      JSON.stringify(Action).includes('dynamodb:'),
    );
    expect(statements.length).toBeGreaterThan(0);
    for (const { Condition } of statements) {
      const keys = JSON.stringify(Condition);
      expect(keys).toContain('dynamodb:LeadingKeys');
      expect(keys).not.toMatch(/EFFECT|OUTBOX/);
    }
  });

  it('grants no wildcard action, and no wildcard resource to the functions’ own roles', () => {
    const policies = Object.entries(template.findResources('AWS::IAM::Policy'));
    for (const [id, { Properties }] of policies) {
      const statements: readonly Statement[] = Properties.PolicyDocument.Statement;
      expect(
        actionsOf(statements).filter((action) => action.endsWith('*')),
        id,
      ).toEqual([]);
      if (id.includes('WorkerStateMachine')) continue;
      expect(
        statements.filter(({ Resource }) => Resource === '*'),
        id,
      ).toEqual([]);
    }
  });

  it('gives names and ARNs as one output', () => {
    const outputs = JSON.stringify(template.findOutputs('*'));
    for (const name of ['stateMachineArn', 'queueUrl', 'dlqUrl', 'tableName', 'workerName']) {
      expect(outputs).toContain(name);
    }
  });
});

describe('the props of WorkflowWorker', () => {
  it('report every fault at once, with rule and remedy', () => {
    const faulty = () =>
      synthesise({
        functionTimeout: Duration.seconds(60),
        visibilityTimeout: Duration.seconds(30),
        maxReceiveCount: 2,
        maxConcurrency: 1,
        inboxRetentionDays: 30,
        fifo: true,
        maxBatchingWindow: Duration.seconds(5),
      });
    expect(faulty).toThrow(/visibilityTimeout: must be at least 6 × functionTimeout/);
    for (const prop of ['maxReceiveCount', 'maxConcurrency', 'inboxRetentionDays', 'maxBatchingWindow']) {
      expect(faulty).toThrow(new RegExp(`- ${prop}: .+`));
    }
  });

  it.each<[string, Partial<WorkflowWorkerProps>]>([
    ['a FIFO queue', { fifo: true }],
    ['large batches', { batchSize: 100, maxBatchingWindow: Duration.seconds(2) }],
    ['invalid messages in quarantine', { invalidMessages: 'quarantine' }],
    ['an in-flight limit', { maxInFlight: 20 }],
    ['development', { profile: 'development' }],
    ['reserved concurrency', { reservedConcurrency: 20, maxConcurrency: 20 }],
    ['data in the execution log', { logExecutionData: true }],
  ])('synthesise %s', (_what, props) => {
    expect(() => synthesise(props)).not.toThrow();
  });

  it('tell two workers in one stack apart', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const stack = new Stack(app, 'Two');
    for (const id of ['Orders', 'Cases']) {
      new WorkflowWorker(stack, id, { messages, messagesEntry: MESSAGES_ENTRY });
    }
    expect(Object.keys(Template.fromStack(stack).findOutputs('*'))).toHaveLength(2);
  });
});
