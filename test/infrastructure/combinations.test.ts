import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnWaitConditionHandle, Duration, Stack } from 'aws-cdk-lib';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { CfnQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../lambdas/core/errors.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { messages } from '../../lambdas/messages/index.ts';
import { IngressApi, type IngressApiProps } from '../../lib/constructs/ingress-api.ts';
import { findFaults } from '../../lib/constructs/workflow-worker-checks.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { WorkerStack, type WorkerStackProps } from '../../lib/worker-stack.ts';
import { type Combination, type Dimensions, everyCombination, everyPair } from '../helpers/combinations.ts';
import { removeFolder } from '../helpers/folders.ts';
import { MESSAGES_ENTRY } from '../helpers/worker-template.ts';

const ENV = { account: '123456789012', region: 'eu-west-1' };

type Choice = Partial<WorkflowWorkerProps> & {
  readonly stack?: Omit<WorkerStackProps, 'worker'>;
  readonly ingress?: Omit<IngressApiProps, 'queue'>;
};
type Options = Readonly<Record<string, Readonly<Record<string, Choice>>>>;

/** What exists already and is imported. */
function imports(scope: Stack) {
  const arn = (service: string, name: string) => `arn:aws:${service}:${ENV.region}:${ENV.account}:${name}`;
  return {
    key: Key.fromKeyArn(scope, 'Key', arn('kms', 'key/11111111-2222-3333-4444-555555555555')),
    vpc: Vpc.fromVpcAttributes(scope, 'Vpc', {
      vpcId: 'vpc-12345678',
      availabilityZones: ['eu-west-1a'],
      privateSubnetIds: ['subnet-12345678'],
    }),
    subnet: Subnet.fromSubnetId(scope, 'Subnet', 'subnet-87654321'),
    group: SecurityGroup.fromSecurityGroupId(scope, 'Group', 'sg-12345678'),
    queue: Queue.fromQueueArn(scope, 'Queue', arn('sqs', 'there')),
    dlq: Queue.fromQueueArn(scope, 'Dlq', arn('sqs', 'there-dlq')),
    target: Queue.fromQueueArn(scope, 'Target', arn('sqs', 'target')),
    table: Table.fromTableAttributes(scope, 'Table', {
      tableArn: arn('dynamodb', 'table/there'),
      tableStreamArn: arn('dynamodb', 'table/there/stream/2026-01-01T00:00:00.000'),
      globalIndexes: ['any'],
    }),
    orders: Table.fromTableArn(scope, 'Orders', arn('dynamodb', 'table/orders')),
    bucket: Bucket.fromBucketName(scope, 'Bucket', 'documents'),
    secret: Secret.fromSecretCompleteArn(scope, 'Secret', arn('secretsmanager', 'secret:bank-AbCdEf')),
    topic: Topic.fromTopicArn(scope, 'Topic', arn('sns', 'people')),
  };
}

/** Every prop with its default and with other values. */
function optionsOf(there: ReturnType<typeof imports>): Options {
  const providers = {
    providers: [defineProvider({ name: 'Bank', operations: {} })],
    providersEntry: MESSAGES_ENTRY,
  };
  return {
    fifo: { no: {}, yes: { fifo: true } },
    profile: { production: { profile: 'production' }, development: { profile: 'development' } },
    invalidMessages: { dlq: { invalidMessages: 'dlq' }, quarantine: { invalidMessages: 'quarantine' } },
    logExecutionData: { no: { logExecutionData: false }, yes: { logExecutionData: true } },
    batch: {
      default: {},
      window: { maxBatchingWindow: Duration.seconds(5) },
      large: { batchSize: 100, maxBatchingWindow: Duration.seconds(5) },
    },
    maxInFlight: { none: {}, some: { maxInFlight: 50 } },
    messages: {
      inline: {},
      reference: { messages: messages.map((message) => ({ ...message, data: 'reference' as const })) },
    },
    providers: {
      none: {},
      plain: providers,
      set: {
        ...providers,
        providerSettings: {
          Bank: {
            timeout: Duration.seconds(120),
            memorySize: 1024,
            reservedConcurrency: 5,
            secret: there.secret,
            environment: { BANK_URL: 'https://bank.example' },
            policy: [new PolicyStatement({ actions: ['ses:SendEmail'], resources: ['*'] })],
            inVpc: false,
          },
        },
      },
    },
    sources: {
      none: {},
      some: { sourcesEntry: MESSAGES_ENTRY, sourcesEnvironment: { WEBHOOK_SECRET: 'its-name' } },
    },
    aggregates: {
      none: {},
      some: { aggregates: { order: { table: there.orders, key: 'id', versionAttribute: 'version' } } },
    },
    workerName: { default: {}, own: { workerName: 'own-name' } },
    functionTimeout: { default: {}, longer: { functionTimeout: Duration.seconds(60) } },
    visibilityTimeout: { default: {}, longer: { visibilityTimeout: Duration.hours(1) } },
    maxReceiveCount: { default: {}, few: { maxReceiveCount: 10 } },
    maxConcurrency: { default: {}, more: { maxConcurrency: 40 } },
    reservedConcurrency: { none: {}, some: { reservedConcurrency: 20 } },
    invalidReceives: { default: {}, first: { invalidReceives: 1 } },
    inboxRetentionDays: { default: {}, longer: { inboxRetentionDays: 120 } },
    outboxRetentionDays: { default: {}, longer: { outboxRetentionDays: 14 } },
    executionTimeout: { default: {}, shorter: { executionTimeout: Duration.days(2) } },
    stepTimeout: { default: {}, longer: { stepTimeout: Duration.seconds(60) } },
    resolutionTimeout: { default: {}, shorter: { resolutionTimeout: Duration.hours(1) } },
    queueRetention: { default: {}, shorter: { queueRetention: Duration.days(4) } },
    dlqRetention: { default: {}, shorter: { dlqRetention: Duration.days(10) } },
    payloadBuckets: { none: {}, some: { payloadBuckets: [there.bucket] } },
    payloadRetentionDays: { default: {}, shorter: { payloadRetentionDays: 60 } },
    encryptionKey: { none: {}, some: { encryptionKey: there.key } },
    vpc: {
      none: {},
      plain: { vpc: there.vpc },
      chosen: { vpc: there.vpc, vpcSubnets: { subnets: [there.subnet] }, securityGroups: [there.group] },
    },
    queue: { own: {}, imported: { queue: there.queue, deadLetterQueue: there.dlq } },
    table: { own: {}, imported: { table: there.table } },
    logRetention: { default: {}, own: { logRetention: RetentionDays.ONE_MONTH } },
    release: { default: {}, own: { release: 'r-1' } },
    telemetry: {
      none: {},
      some: { telemetry: { environment: { OTEL_SERVICE_NAME: 'own' }, execWrapper: '/opt/otel-handler' } },
    },
    outboxTarget: {
      none: {},
      queue: { stack: { outboxTarget: there.target } },
      bus: { stack: { outboxTarget: 'default' } },
    },
    ingress: {
      none: {},
      iam: { ingress: {} },
      apiKey: { ingress: { authorization: 'apiKey', webhooks: { bank: { headers: ['Bank-Signature'] } } } },
    },
    alarms: {
      plain: {},
      own: {
        stack: {
          alarms: {
            topic: there.topic,
            runbookUrl: 'https://runbooks.example',
            mostMessagesPerDay: 1_000_000,
          },
        },
      },
    },
  };
}

const namesOf = (options: Options): Dimensions =>
  Object.fromEntries(
    Object.entries(options).map(([dimension, choices]) => [dimension, Object.keys(choices)]),
  );

/** The props of a combination, and what stands beside the worker. */
function propsOf(options: Options, combination: Combination) {
  const choices = Object.entries(combination).map(([dimension, name]) => options[dimension]?.[name] ?? {});
  const stack: Omit<WorkerStackProps, 'worker'> = Object.assign({}, ...choices.map((choice) => choice.stack));
  const { stack: _stack, ingress, ...worker }: Choice = Object.assign({}, ...choices);
  return { stack, ingress, worker: { messages, messagesEntry: MESSAGES_ENTRY, ...worker } };
}

/** An app with nothing in it but what is imported. */
function emptyApp(outdir: string) {
  const app = new App({
    outdir,
    analyticsReporting: false,
    treeMetadata: false,
    context: { '@aws-cdk/core:validateAgainstDefaultRules': true, 'aws:cdk:bundling-stacks': [] },
  });
  const outside = new Stack(app, 'Outside', { env: ENV });
  // CloudFormation takes no stack without resources.
  new CfnWaitConditionHandle(outside, 'Nothing');
  return { app, outside, options: optionsOf(imports(outside)) };
}

/** The template of a combination. @throws Error when it is refused, or does not hold against CloudFormation's rules */
function synthesise(combination: Combination): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-combination-'));
  try {
    const { app, options } = emptyApp(folder);
    const { stack, ingress, worker } = propsOf(options, combination);
    const made = new WorkerStack(app, 'Test', { env: ENV, ...stack, worker });
    if (ingress !== undefined) new IngressApi(made, 'Ingress', { ...ingress, queue: made.worker.queue });
    return readFileSync(app.synth().getStackByName('Test').templateFullPath, 'utf8');
  } finally {
    removeFolder(folder);
  }
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** What CloudFormation wants a name for, and where the name need not be another one in each stack. */
const NAMED = [
  'AWS::IAM::Policy',
  'AWS::Logs::QueryDefinition',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
];

/** Resources with a name of their own: a second stack would find it taken. One made of the stack's id never is. */
function namedResources(resources: Readonly<Record<string, Resource>>): readonly string[] {
  return Object.entries(resources).flatMap(([id, { Type, Properties = {} }]) => {
    const name = Properties.Name ?? Properties[`${Type.split('::').at(-1)}Name`];
    const taken =
      name !== undefined && !NAMED.includes(Type) && !JSON.stringify(name).includes('AWS::StackId');
    return taken ? [`${id} (${Type})`] : [];
  });
}

const validate = createRequire(import.meta.url)('asl-validator');
/** Definitions that the validator has seen: most combinations share theirs. */
const valid = new Set<string>();

function expectDeployable(template: string): void {
  const { Resources }: { readonly Resources: Readonly<Record<string, Resource>> } = JSON.parse(template);
  expect(namedResources(Resources)).toEqual([]);
  const [machine] = Object.values(Resources).filter(
    ({ Type }) => Type === 'AWS::StepFunctions::StateMachine',
  );
  const definition = String(machine?.Properties?.DefinitionString);
  if (valid.has(definition)) return;
  expect(validate(JSON.parse(definition)).errors).toEqual([]);
  valid.add(definition);
}

const folder = mkdtempSync(join(tmpdir(), 'stepwell-combinations-'));
afterAll(() => removeFolder(folder));
const { outside, options } = emptyApp(folder);
let workers = 0;
const faultsOf = (combination: Combination) => {
  workers += 1;
  return findFaults(new Construct(outside, `Worker${workers}`), propsOf(options, combination).worker, []);
};

const FEW_VALUES = ['fifo', 'profile', 'invalidMessages', 'logExecutionData'];
const closed = everyCombination(
  Object.fromEntries(
    Object.entries(namesOf(options)).filter(([dimension]) => FEW_VALUES.includes(dimension)),
  ),
);
const pairs = everyPair(namesOf(options), (combination) => faultsOf(combination).length === 0);
const title = (combination: Combination) =>
  Object.entries(combination)
    .filter(([dimension, name]) => name !== Object.keys(options[dimension] ?? {})[0])
    .flat()
    .join(' ');

const templates = new Map<Combination, string>();
function templateOf(combination: Combination): string {
  const template = templates.get(combination) ?? synthesise(combination);
  templates.set(combination, template);
  return template;
}

/** Those that bring a choice which none before them has. */
function withEveryChoice(combinations: readonly Combination[]): readonly Combination[] {
  const seen = new Set<string>();
  return combinations.filter((combination) => {
    const before = seen.size;
    for (const [dimension, name] of Object.entries(combination)) seen.add(`${dimension} ${name}`);
    return seen.size > before;
  });
}

describe('the options', () => {
  const source = readFileSync(
    new URL('../../lib/constructs/workflow-worker-props.ts', import.meta.url),
    'utf8',
  );
  const [, body = ''] = /interface WorkflowWorkerProps \{\n([\s\S]*?)\n\}/.exec(source) ?? [];
  const props = [...body.matchAll(/^ {2}readonly (\w+)\??: ([^;]+);/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }));
  const choices = Object.values(options).flatMap((choice) => Object.values(choice));

  it('have a choice for every prop of a worker', () => {
    const known = choices.flatMap((choice) => Object.keys(choice));
    expect(props.length).toBeGreaterThan(35);
    expect(props.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual(['messagesEntry']);
  });

  it('have every value of the props that take few', () => {
    const few = props.filter(({ type }) => type === 'boolean' || /^'/.test(type));
    expect(few.map(({ name }) => name).sort()).toEqual([...FEW_VALUES].sort());
    for (const { name, type } of few) {
      const given = choices.flatMap((choice) => Object.entries(choice)).filter(([prop]) => prop === name);
      const wanted: readonly unknown[] =
        type === 'boolean' ? [true] : type.split(' | ').map((literal) => literal.slice(1, -1));
      expect(
        given.map(([, value]) => value),
        name,
      ).toEqual(expect.arrayContaining([...wanted]));
    }
  });
});

describe('a worker’s stack', () => {
  it.each(closed.map((combination) => [title(combination), combination] as const))(
    'can be deployed with nothing but %s',
    (_title, combination) => expectDeployable(templateOf(combination)),
  );

  it.each(pairs.combinations.map((combination) => [title(combination), combination] as const))(
    'can be deployed with %s',
    (_title, combination) => expectDeployable(templateOf(combination)),
  );

  it.each(
    withEveryChoice(pairs.combinations).map((combination) => [title(combination), combination] as const),
  )('is the same at every synthesis with %s', (_title, combination) =>
    expect(synthesise(combination)).toBe(synthesise(combination)),
  );

  it('has every two options together but those that exclude each other', () => {
    expect(pairs.impossible.map(title)).toEqual([
      'fifo yes batch window',
      'fifo yes batch large',
      'fifo yes queue imported',
      'visibilityTimeout longer queue imported',
      'maxReceiveCount few queue imported',
      'maxConcurrency more reservedConcurrency some',
      'queueRetention shorter queue imported',
      'dlqRetention shorter queue imported',
    ]);
  });

  it.each(pairs.impossible.map((combination) => [title(combination), combination] as const))(
    'is refused with rule and remedy for %s',
    (_title, combination) => {
      const props = Object.keys(propsOf(options, combination).worker);
      for (const { prop, rule, remedy } of faultsOf(combination)) {
        expect(props).toContain(prop);
        expect(rule.length).toBeGreaterThan(10);
        expect(remedy.length).toBeGreaterThan(10);
      }
      expect(() => synthesise(combination)).toThrow(ConfigurationError);
    },
  );

  it('is refused when CloudFormation would refuse its template', () => {
    const { app } = emptyApp(join(folder, 'refused'));
    const stack = new WorkerStack(app, 'Test', { worker: { messages, messagesEntry: MESSAGES_ENTRY } });
    const [queue] = stack.node.findAll().filter((node): node is CfnQueue => node instanceof CfnQueue);
    queue?.addPropertyOverride('VisibilityTimeout', 'soon');

    expect(() => app.synth()).toThrow(/VisibilityTimeout: 'soon' is not of type/);
  });
});
