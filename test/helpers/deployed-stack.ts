import { onTestFinished, vi } from 'vitest';
import {
  bodyText,
  type EdgeRequest,
  type EdgeResponse,
  jsonResponse,
  xmlResponse,
} from '../../local/edge/http.ts';
import { listenOnLoopback } from '../../local/edge/http-server.ts';
import { createResolver, REGION, STACK_NAME } from './template-values.ts';

/** Properties of resources, as far as the services' answers are made of them; a resource has those of its type. */
interface Properties {
  Queues: string[];
  PolicyDocument: unknown;
  KmsMasterKeyId?: string;
  RedrivePolicy: { deadLetterTargetArn: string; maxReceiveCount: number };
  GlobalSecondaryIndexes: object[];
  AttributeDefinitions: { AttributeName: string; AttributeType: string }[];
  TimeToLiveSpecification?: { AttributeName?: string; Enabled?: boolean };
  PointInTimeRecoverySpecification?: { PointInTimeRecoveryEnabled?: boolean };
  StateMachineType: string;
  DefinitionString: string;
  DefinitionSubstitutions: Record<string, string>;
  LoggingConfiguration: {
    Level: string;
    IncludeExecutionData: boolean;
    Destinations: { CloudWatchLogsLogGroup: { LogGroupArn: string } }[];
  };
  EventSourceArn: string;
  FunctionName: string;
  Enabled?: boolean;
  Role: unknown;
  Environment: { Variables: Record<string, unknown> };
  ReservedConcurrentExecutions?: number;
  DashboardBody: unknown;
  VersioningConfiguration?: object;
  PublicAccessBlockConfiguration?: object;
  LifecycleConfiguration?: { Rules: { Status: string; ExpirationInDays?: number }[] };
}

interface Resource {
  readonly Type: string;
  readonly Properties: Properties;
}

/** A template as CDK synthesises it. */
export interface DeployedTemplate {
  readonly Resources: Record<string, Resource>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

/** What a call asks, as far as an answer depends on it. */
type Input = Readonly<Record<string, string | undefined>>;

/** A stack as it would stand after its deployment, and what a test may change of it. */
export interface DeployedStack {
  readonly name: string;
  /** Properties of the only resource of a type whose logical id contains `part`. */
  properties(type: string, part: string): Properties;
  /** Adds a resource. */
  add(logicalId: string, type: string, properties: Partial<Properties>): void;
  /** Laid over what the services answer, by operation. */
  readonly answers: Record<string, unknown>;
  /** Operations that fail, with the error's code. */
  readonly failures: Record<string, string>;
}

/**
 * Serves what the services would say of a stack, on loopback, and makes the AWS SDK of this process ask there: each
 * answer is read off the template.
 * @param template as CDK synthesises it
 * @param onRequest told of every call
 */
export async function deploy(
  template: DeployedTemplate | object,
  onRequest: (request: EdgeRequest) => void = () => {},
): Promise<DeployedStack> {
  // A test may change it.
  const { Resources, Outputs = {} }: DeployedTemplate = JSON.parse(JSON.stringify(template));
  const answers: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const server = await listenOnLoopback(async (request) => answer(request));
  onTestFinished(() => server.close());
  const resolve = createResolver((id) => Resources[id]?.Type, server.url);
  const resolved = (resource: Resource): Properties =>
    JSON.parse(JSON.stringify(resolve(resource.Properties)));
  const ofType = (type: string): readonly (readonly [id: string, properties: Properties])[] =>
    Object.entries(Resources).flatMap(([id, resource]) =>
      resource.Type === type ? [[id, resolved(resource)] as const] : [],
    );
  const named = (type: string, name = ''): Properties | undefined =>
    ofType(type).find(([id]) => name.endsWith(id))?.[1];

  /** What a service says; undefined for what is not there. */
  function say(operation: string, input: Input): object | undefined {
    const { QueueUrl = '', TableName = '', FunctionName = '' } = input;
    switch (operation) {
      case 'GetQueueAttributes': {
        const queue = named('AWS::SQS::Queue', QueueUrl);
        if (queue === undefined) return undefined;
        const policy = ofType('AWS::SQS::QueuePolicy').find(([, { Queues }]) => Queues.includes(QueueUrl));
        const attributes = {
          QueueArn: resolve({ 'Fn::GetAtt': [QueueUrl.split('/').at(-1), 'Arn'] }),
          VisibilityTimeout: 30,
          MessageRetentionPeriod: 345_600,
          ...queue,
          ...(queue.KmsMasterKeyId === undefined ? { SqsManagedSseEnabled: true } : {}),
          ...(policy === undefined ? {} : { Policy: policy[1].PolicyDocument }),
        };
        const texts = Object.entries({ ...attributes, ...queue }).map(([name, value]) => [
          name,
          typeof value === 'object' ? JSON.stringify(value) : String(value),
        ]);
        return { Attributes: Object.fromEntries(texts) };
      }
      case 'DescribeTable': {
        const table = named('AWS::DynamoDB::Table', TableName);
        if (table === undefined) return undefined;
        const indexes = table.GlobalSecondaryIndexes ?? [];
        return {
          Table: {
            TableStatus: 'ACTIVE',
            ...table,
            GlobalSecondaryIndexes: indexes.map((index) => ({ IndexStatus: 'ACTIVE', ...index })),
            LatestStreamArn: resolve({ 'Fn::GetAtt': [TableName, 'StreamArn'] }),
          },
        };
      }
      case 'DescribeTimeToLive': {
        const ttl = named('AWS::DynamoDB::Table', TableName)?.TimeToLiveSpecification;
        return {
          TimeToLiveDescription: {
            AttributeName: ttl?.AttributeName,
            TimeToLiveStatus: ttl?.Enabled ? 'ENABLED' : 'DISABLED',
          },
        };
      }
      case 'DescribeContinuousBackups': {
        const recovery = named('AWS::DynamoDB::Table', TableName)?.PointInTimeRecoverySpecification;
        const PointInTimeRecoveryStatus = recovery?.PointInTimeRecoveryEnabled ? 'ENABLED' : 'DISABLED';
        return {
          ContinuousBackupsDescription: {
            ContinuousBackupsStatus: 'ENABLED',
            PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus },
          },
        };
      }
      case 'DescribeStateMachine': {
        const machine = named('AWS::StepFunctions::StateMachine', input.stateMachineArn);
        if (machine === undefined) return undefined;
        const { LoggingConfiguration: logging, DefinitionSubstitutions = {} } = machine;
        return {
          status: 'ACTIVE',
          type: machine.StateMachineType,
          definition: String(machine.DefinitionString).replace(
            /\$\{(\w+)\}/g,
            (_whole, name: string) => DefinitionSubstitutions[name] ?? '',
          ),
          loggingConfiguration: {
            level: logging.Level,
            includeExecutionData: logging.IncludeExecutionData,
            destinations: logging.Destinations.map(({ CloudWatchLogsLogGroup }) => ({
              cloudWatchLogsLogGroup: { logGroupArn: CloudWatchLogsLogGroup.LogGroupArn },
            })),
          },
        };
      }
      case 'ListEventSourceMappings':
        return {
          EventSourceMappings: ofType('AWS::Lambda::EventSourceMapping')
            .filter(
              ([, mapping]) => (input.EventSourceArn ?? mapping.EventSourceArn) === mapping.EventSourceArn,
            )
            .filter(([, mapping]) => (input.FunctionName ?? mapping.FunctionName) === mapping.FunctionName)
            .map(([UUID, mapping]) => ({
              UUID,
              State: mapping.Enabled === false ? 'Disabled' : 'Enabled',
              FunctionArn: resolve({ 'Fn::GetAtt': [mapping.FunctionName, 'Arn'] }),
              ...mapping,
            })),
        };
      case 'GetFunctionConfiguration': {
        const configuration = named('AWS::Lambda::Function', FunctionName);
        return (
          configuration && {
            State: 'Active',
            LastUpdateStatus: 'Successful',
            FunctionArn: resolve({ 'Fn::GetAtt': [FunctionName, 'Arn'] }),
            ...configuration,
          }
        );
      }
      case 'GetFunctionConcurrency': {
        const starter = named('AWS::Lambda::Function', FunctionName);
        return { ReservedConcurrentExecutions: starter?.ReservedConcurrentExecutions };
      }
      case 'GetAccountSettings':
        return { AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 } };
      case 'DescribeAlarms':
        return {
          MetricAlarms: ofType('AWS::CloudWatch::Alarm').map(([AlarmName, alarm]) => ({
            AlarmName,
            StateValue: 'OK',
            ...alarm,
          })),
        };
      case 'GetDashboard':
        return named('AWS::CloudWatch::Dashboard', input.DashboardName);
      default:
        return { message: `nobody answers ${operation}` };
    }
  }

  function answer(request: EdgeRequest): EdgeResponse {
    const { operation, input } = callOf(request);
    onRequest(request);
    const failure = failures[operation];
    if (operation === 'DescribeStacks') return stacks(input.StackName ?? '');
    if (operation.startsWith('GetBucket') || operation === 'GetPublicAccessBlock') {
      return failure === undefined
        ? xmlResponse(200, bucketAnswer(operation, ofType('AWS::S3::Bucket')[0]?.[1] ?? {}))
        : xmlResponse(404, `<Error><Code>${failure}</Code></Error>`);
    }
    const said = say(operation, input);
    const code = failure ?? (said === undefined ? 'ResourceNotFoundException' : undefined);
    if (code !== undefined) {
      return jsonResponse(400, { __type: code, message: 'refused' }, { 'x-amzn-errortype': code });
    }
    return jsonResponse(200, merge(said, answers[operation]));
  }

  function stacks(name: string): EdgeResponse {
    if (failures.DescribeStacks !== undefined || name !== STACK_NAME) {
      const code = failures.DescribeStacks ?? 'ValidationError';
      const message = code === 'ValidationError' ? `Stack with id ${name} does not exist` : 'refused';
      return xmlResponse(
        400,
        `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
      );
    }
    const members = Object.entries(Outputs).map(([key, { Value }]) => {
      const text = String(resolve(Value)).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<member><OutputKey>${key}</OutputKey><OutputValue>${text}</OutputValue></member>`;
    });
    return xmlResponse(
      200,
      `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  }

  vi.stubEnv('AWS_ENDPOINT_URL', server.url);
  vi.stubEnv('AWS_REGION', REGION);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  return {
    name: STACK_NAME,
    answers,
    failures,
    add(logicalId, Type, Properties) {
      Object.assign(Resources, { [logicalId]: { Type, Properties } });
    },
    properties(type, part) {
      const found = Object.entries(Resources).filter(
        ([id, resource]) => resource.Type === type && id.includes(part),
      );
      const [only, another] = found;
      if (only === undefined || another !== undefined) {
        throw new Error(`${found.length} resources ${type} contain ${part}`);
      }
      return only[1].Properties;
    },
  };
}

/** The operation of a request and what it asks, in whichever protocol it comes. */
export function callOf(request: EdgeRequest): { readonly operation: string; readonly input: Input } {
  const target = request.headers['x-amz-target'];
  if (target !== undefined) {
    return { operation: target.split('.').at(-1) ?? '', input: JSON.parse(bodyText(request)) };
  }
  const { path, query } = request;
  if (path === '/') {
    const form = Object.fromEntries(new URLSearchParams(bodyText(request)));
    return { operation: form.Action ?? '', input: form };
  }
  const [, FunctionName = '', what] = /\/functions\/([^/]+)\/(\w+)$/.exec(path) ?? [];
  if (what !== undefined) {
    const operation = what === 'configuration' ? 'GetFunctionConfiguration' : 'GetFunctionConcurrency';
    return { operation, input: { FunctionName: decodeURIComponent(FunctionName) } };
  }
  if (path.includes('/event-source-mappings')) {
    return { operation: 'ListEventSourceMappings', input: Object.fromEntries(query) };
  }
  if (path.includes('/account-settings')) return { operation: 'GetAccountSettings', input: {} };
  if (query.has('versioning')) return { operation: 'GetBucketVersioning', input: {} };
  if (query.has('publicAccessBlock')) return { operation: 'GetPublicAccessBlock', input: {} };
  return { operation: 'GetBucketLifecycleConfiguration', input: {} };
}

function bucketAnswer(operation: string, bucket: Partial<Properties>): string {
  const elements = (name: string, fields: Readonly<Record<string, unknown>>) =>
    `<${name}>${Object.entries(fields)
      .map(([key, value]) => `<${key}>${value}</${key}>`)
      .join('')}</${name}>`;
  if (operation === 'GetBucketVersioning') {
    return elements('VersioningConfiguration', { ...bucket.VersioningConfiguration });
  }
  if (operation === 'GetPublicAccessBlock') {
    return elements('PublicAccessBlockConfiguration', { ...bucket.PublicAccessBlockConfiguration });
  }
  const rules = (bucket.LifecycleConfiguration?.Rules ?? []).map(({ Status, ExpirationInDays }) => ({
    Status,
    Expiration: `<Days>${ExpirationInDays}</Days>`,
  }));
  return `<LifecycleConfiguration>${rules.map((rule) => elements('Rule', rule)).join('')}</LifecycleConfiguration>`;
}

/** One value laid over another. */
function merge(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (typeof over !== 'object' || over === null || Array.isArray(over)) return over;
  const below: Readonly<Record<string, unknown>> = { ...Object(under) };
  const above: Readonly<Record<string, unknown>> = { ...over };
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(below[key], above[key])]));
}
