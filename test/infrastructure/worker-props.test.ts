import { readFileSync } from 'node:fs';
import { Duration } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { caseDeadline } from '../../lambdas/messages/case-deadline.ts';
import type { ProviderSettings, WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { arn, type Deployed, deployed, type Outside } from '../helpers/deployed-props.ts';
import { MESSAGES_ENTRY } from '../helpers/worker-template.ts';

const DAY = 86_400;

const bank = (own: (there: Outside) => ProviderSettings) => (there: Outside) => ({
  vpc: there.vpc,
  providers: [defineProvider({ name: 'Bank', operations: {} })],
  providersEntry: MESSAGES_ENTRY,
  providerSettings: { Bank: own(there) },
});

/** Each prop, a value of it that is no default, and what it comes to. */
const CASES: readonly (readonly [
  prop: string,
  props: (there: Outside) => Partial<WorkflowWorkerProps>,
  look: (worker: Deployed) => unknown,
  expected: unknown,
])[] = [
  [
    'messages',
    () => ({ messages: [defineMessage({ ...caseDeadline, failureCodes: ['NO_CASE', 'TOO_LATE'] })] }),
    (worker) => worker.variables('ReportFailure').FAILURE_CODES,
    'NO_CASE,TOO_LATE',
  ],
  [
    'providers',
    bank(() => ({})),
    (worker) => [
      worker.variables('Plan').PROVIDERS,
      worker.variables('RunEffectBank').PROVIDER,
      worker.variables('RunEffectBank').EFFECT_TTL_SECONDS,
      /'Bank': '\$\{RunEffectBankFunctionArn\}'/.test(JSON.stringify(worker.definition())),
    ],
    ['Bank', 'Bank', String((90 + 7 + 16) * DAY), true],
  ],
  [
    'sourcesEnvironment',
    () => ({ sourcesEntry: MESSAGES_ENTRY, sourcesEnvironment: { SECRET: 'its-name' } }),
    (worker) => [worker.variables('Starter').SECRET, worker.variables('Plan').SECRET],
    ['its-name', undefined],
  ],
  [
    'aggregates',
    ({ orders }) => ({ aggregates: { order: { table: orders, key: 'id', versionAttribute: 'version' } } }),
    (worker) => JSON.parse(worker.variables('Plan').AGGREGATES),
    { order: { table: 'orders', key: 'id', versionAttribute: 'version' } },
  ],
  [
    'workerName',
    () => ({ workerName: 'cases' }),
    (worker) => [
      ...new Set(worker.functions().map(({ Environment }) => Environment.Variables.WORKER_NAME)),
      worker.machine().DefinitionSubstitutions.WorkerName,
    ],
    ['cases', 'cases'],
  ],
  [
    'profile',
    () => ({ profile: 'development' }),
    (worker) => worker.logGroups().map(({ RetentionInDays }) => RetentionInDays),
    Array(7).fill(7),
  ],
  ['fifo', () => ({ fifo: true }), (worker) => worker.queue('QueueMessages').FifoQueue, true],
  [
    'batchSize',
    () => ({ batchSize: 100, maxBatchingWindow: Duration.seconds(5) }),
    (worker) => worker.source().BatchSize,
    100,
  ],
  [
    'maxBatchingWindow',
    () => ({ maxBatchingWindow: Duration.seconds(5) }),
    (worker) => [
      worker.source().MaximumBatchingWindowInSeconds,
      worker.queue('QueueMessages').VisibilityTimeout,
    ],
    [5, 185],
  ],
  [
    'functionTimeout',
    () => ({ functionTimeout: Duration.seconds(45) }),
    (worker) => [worker.lambda('Starter').Timeout, worker.queue('QueueMessages').VisibilityTimeout],
    [45, 270],
  ],
  [
    'visibilityTimeout',
    () => ({ visibilityTimeout: Duration.hours(1) }),
    (worker) => worker.queue('QueueMessages').VisibilityTimeout,
    3_600,
  ],
  [
    'maxReceiveCount',
    () => ({ maxReceiveCount: 10 }),
    (worker) => worker.queue('QueueMessages').RedrivePolicy.maxReceiveCount,
    10,
  ],
  [
    'maxConcurrency',
    () => ({ maxConcurrency: 40 }),
    (worker) => worker.source().ScalingConfig,
    { MaximumConcurrency: 40 },
  ],
  [
    'reservedConcurrency',
    () => ({ reservedConcurrency: 20 }),
    (worker) => worker.functions().flatMap((each) => each.ReservedConcurrentExecutions ?? []),
    [20],
  ],
  [
    'maxInFlight',
    () => ({ maxInFlight: 50 }),
    (worker) => [
      ...['Starter', 'Waker', 'Reconciler'].map((name) => worker.variables(name).MAX_IN_FLIGHT),
      worker.changes().FilterCriteria.Filters.length >
        deployed(() => ({})).changes().FilterCriteria.Filters.length,
    ],
    ['50', '50', '50', true],
  ],
  [
    'invalidMessages',
    () => ({ invalidMessages: 'quarantine' }),
    (worker) => worker.variables('Starter').INVALID_MESSAGES,
    'quarantine',
  ],
  [
    'invalidReceives',
    () => ({ invalidReceives: 1 }),
    (worker) => worker.variables('Starter').INVALID_RECEIVES,
    '1',
  ],
  [
    'inboxRetentionDays',
    () => ({ inboxRetentionDays: 120 }),
    (worker) => [
      worker.variables('Commit').INBOX_TTL_SECONDS,
      worker.variables('Reconciler').INBOX_TTL_SECONDS,
      JSON.stringify(worker.definition()).includes(` + ${(120 + 7 + 16) * DAY})`),
    ],
    [...Array(2).fill(String((120 + 7 + 16) * DAY)), true],
  ],
  [
    'outboxRetentionDays',
    () => ({ outboxRetentionDays: 14 }),
    (worker) => worker.variables('Commit').OUTBOX_TTL_SECONDS,
    String(14 * DAY),
  ],
  [
    'executionTimeout',
    () => ({ executionTimeout: Duration.days(2) }),
    (worker) => [
      worker.definition().TimeoutSeconds,
      worker.variables('Starter').EXECUTION_TIMEOUT_SECONDS,
      worker.variables('Reconciler').EXECUTION_TIMEOUT_SECONDS,
    ],
    [2 * DAY, String(2 * DAY), String(2 * DAY)],
  ],
  [
    'stepTimeout',
    () => ({ stepTimeout: Duration.seconds(60) }),
    (worker) => [
      ...['Plan', 'Commit', 'ReportFailure'].map((name) => worker.lambda(name).Timeout),
      ...['Plan', 'Commit'].map((name) => worker.definition().States[name].TimeoutSeconds),
    ],
    [60, 60, 60, 90, 90],
  ],
  [
    'resolutionTimeout',
    () => ({ resolutionTimeout: Duration.hours(1) }),
    (worker) => /"AwaitResolution":.*?"TimeoutSeconds":(\d+)/.exec(JSON.stringify(worker.definition()))?.[1],
    '3600',
  ],
  [
    'queueRetention',
    () => ({ queueRetention: Duration.days(4) }),
    (worker) => worker.queue('QueueMessages').MessageRetentionPeriod,
    4 * DAY,
  ],
  [
    'dlqRetention',
    () => ({ dlqRetention: Duration.days(10) }),
    (worker) =>
      ['QueueDeadLetters', 'Quarantine', 'StreamFailures'].map(
        (name) => worker.queue(name).MessageRetentionPeriod,
      ),
    Array(3).fill(10 * DAY),
  ],
  [
    'payloadBuckets',
    ({ documents }) => ({ payloadBuckets: [documents] }),
    (worker) => JSON.stringify(worker.variables('Plan').PAYLOAD_BUCKETS).includes(',documents"'),
    true,
  ],
  [
    'payloadRetentionDays',
    () => ({ payloadRetentionDays: 60 }),
    (worker) => worker.lifecycle(),
    {
      Status: 'Enabled',
      ExpirationInDays: 60,
      NoncurrentVersionExpiration: { NoncurrentDays: 60 },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    },
  ],
  [
    'vpc',
    ({ vpc }) => ({ vpc }),
    (worker) => [...new Set(worker.functions().map(({ VpcConfig }) => VpcConfig.SubnetIds.join()))],
    ['subnet-12345678'],
  ],
  [
    'vpcSubnets',
    ({ vpc, subnet }) => ({ vpc, vpcSubnets: { subnets: [subnet] } }),
    (worker) => [...new Set(worker.functions().map(({ VpcConfig }) => VpcConfig.SubnetIds.join()))],
    ['subnet-87654321'],
  ],
  [
    'securityGroups',
    ({ vpc, group }) => ({ vpc, securityGroups: [group] }),
    (worker) => [...new Set(worker.functions().map(({ VpcConfig }) => VpcConfig.SecurityGroupIds.join()))],
    ['sg-12345678'],
  ],
  [
    'logExecutionData',
    () => ({ logExecutionData: true }),
    (worker) => worker.machine().LoggingConfiguration,
    expect.objectContaining({ Level: 'ALL', IncludeExecutionData: true }),
  ],
  [
    'logRetention',
    () => ({ logRetention: RetentionDays.ONE_MONTH }),
    (worker) => worker.logGroups().map(({ RetentionInDays }) => RetentionInDays),
    Array(7).fill(30),
  ],
  [
    'release',
    () => ({ release: 'r-1' }),
    (worker) => [...new Set(worker.functions().map(({ Environment }) => Environment.Variables.RELEASE))],
    ['r-1'],
  ],
  [
    'telemetry.layers',
    ({ layer }) => ({ telemetry: { layers: [layer] } }),
    (worker) => worker.functions().map(({ Layers }) => Layers),
    Array(6).fill([arn('lambda', 'layer:otel:1')]),
  ],
  [
    'telemetry.environment',
    () => ({ telemetry: { environment: { OTEL_SERVICE_NAME: 'own', TABLE_NAME: 'another' } } }),
    (worker) => [
      ...new Set(worker.functions().map(({ Environment }) => Environment.Variables.OTEL_SERVICE_NAME)),
      worker.functions().some(({ Environment }) => Environment.Variables.TABLE_NAME === 'another'),
    ],
    ['own', false],
  ],
  [
    'telemetry.execWrapper',
    () => ({ telemetry: { execWrapper: '/opt/otel-handler' } }),
    (worker) => [
      ...new Set(worker.functions().map(({ Environment }) => Environment.Variables.AWS_LAMBDA_EXEC_WRAPPER)),
    ],
    ['/opt/otel-handler'],
  ],
  [
    'providerSettings.timeout',
    bank(() => ({ timeout: Duration.seconds(120) })),
    (worker) => [
      worker.lambda('RunEffectBank').Timeout,
      worker.variables('RunEffectBank').FUNCTION_TIMEOUT_SECONDS,
      /"RunEffect":.*?"TimeoutSeconds":(\d+)/.exec(JSON.stringify(worker.definition()))?.[1],
    ],
    [120, '120', '150'],
  ],
  [
    'providerSettings.memorySize',
    bank(() => ({ memorySize: 1_024 })),
    (worker) => [worker.lambda('RunEffectBank').MemorySize, worker.lambda('Plan').MemorySize],
    [1_024, 512],
  ],
  [
    'providerSettings.reservedConcurrency',
    bank(() => ({ reservedConcurrency: 5 })),
    (worker) => worker.lambda('RunEffectBank').ReservedConcurrentExecutions,
    5,
  ],
  [
    'providerSettings.secret',
    bank(({ secret }) => ({ secret })),
    (worker) => worker.functions().flatMap(({ Environment }) => Environment.Variables.SECRET_ID ?? []),
    [arn('secretsmanager', 'secret:bank-AbCdEf')],
  ],
  [
    'providerSettings.environment',
    bank(() => ({ environment: { BANK_URL: 'https://bank.example', TABLE_NAME: 'another' } })),
    (worker) => [
      worker.functions().flatMap(({ Environment }) => Environment.Variables.BANK_URL ?? []),
      worker.variables('RunEffectBank').TABLE_NAME === 'another',
    ],
    [['https://bank.example'], false],
  ],
  [
    'providerSettings.inVpc',
    bank(() => ({ inVpc: false })),
    (worker) => [worker.lambda('RunEffectBank').VpcConfig, worker.lambda('Plan').VpcConfig === undefined],
    [undefined, false],
  ],
];

/** Props whose outcome other tests of this folder look at: what is bundled, imported, encrypted or let. */
const ELSEWHERE = [
  'messagesEntry',
  'providersEntry',
  'sourcesEntry',
  'encryptionKey',
  'queue',
  'deadLetterQueue',
  'table',
  'providerSettings.entry',
  'providerSettings.policy',
];

/** Props of an interface, below a prefix. */
function propsOf(file: string, name: string, prefix = ''): readonly string[] {
  const source = readFileSync(new URL(`../../lib/constructs/${file}`, import.meta.url), 'utf8');
  const [, body = ''] = new RegExp(`interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, prop = '']) => `${prefix}${prop}`);
}

describe('a prop of WorkflowWorker', () => {
  it.each(CASES)('%s comes to what it says', (_prop, props, look, expected) => {
    expect(look(deployed(props))).toEqual(expected);
  });

  it('has a case here, or is looked at elsewhere', () => {
    const props = [
      ...propsOf('workflow-worker-props.ts', 'WorkflowWorkerProps'),
      ...propsOf('workflow-worker-props.ts', 'ProviderSettings', 'providerSettings.'),
      ...propsOf('worker-function.ts', 'FunctionTelemetry', 'telemetry.'),
    ].filter((prop) => prop !== 'providerSettings' && prop !== 'telemetry');
    expect(props.length).toBeGreaterThan(45);
    expect([...CASES.map(([prop]) => prop), ...ELSEWHERE].sort()).toEqual([...props].sort());
  });
});
