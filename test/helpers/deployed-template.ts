import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { JsonValue } from '../../lambdas/core/json.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';
import type { DeploymentPlace } from '../../local/deployment.ts';
import { functionArn } from '../../local/event-sources/index.ts';
import { queueNameOf } from '../../local/names.ts';
import type { FunctionBundle } from './deployed-function.ts';

/** Whose endpoints are the local runtime's: the only variables that come neither from the template nor from Lambda. */
const SERVICES = ['DYNAMODB', 'LAMBDA', 'S3', 'SFN', 'SQS'];

/** Where a synthesised worker is put: the local runtime, and endpoints of services that it has not. */
export interface Surroundings extends DeploymentPlace {
  /** By the service's name in `AWS_ENDPOINT_URL_…`. @default none */
  readonly otherEndpoints?: Readonly<Record<string, string>>;
}

type Expressions = Readonly<Record<string, JsonValue>>;

interface Resource {
  readonly Type: string;
  readonly Properties: {
    readonly Code: { readonly S3Key: string };
    readonly Handler: string;
    readonly Timeout: number;
    readonly MemorySize: number;
    readonly Environment: { readonly Variables: Expressions };
    readonly DefinitionString: JsonValue;
    readonly DefinitionSubstitutions: Expressions;
    readonly FunctionName: JsonValue;
    readonly FilterCriteria?: { readonly Filters: readonly { readonly Pattern: string }[] };
    readonly BatchSize?: number;
    readonly ScalingConfig?: { readonly MaximumConcurrency: number };
    readonly RedrivePolicy?: { readonly maxReceiveCount: number };
  };
}

/** A worker's stack as `cdk synth` left it: its template and the folder that holds its assets. */
export interface SynthesisedWorker {
  readonly folder: string;
  readonly template: {
    readonly Resources: Readonly<Record<string, Resource>>;
    readonly Outputs: Readonly<Record<string, { readonly Value: JsonValue }>>;
  };
}

/** Synthesises a worker's stack, bundles and all, into a folder of its own. */
export function synthesiseWorker(worker: WorkflowWorkerProps): SynthesisedWorker {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-deployed-'));
  const app = new App({ outdir: folder, analyticsReporting: false });
  new WorkerStack(app, 'Test', { worker });
  const { templateFullPath } = app.synth().getStackByName('Test');
  return { folder, template: JSON.parse(readFileSync(templateFullPath, 'utf8')) };
}

/** The names that the stack's output gives, each as the CloudFormation expression that stands behind it. */
interface OutputNames {
  readonly workerName: string;
  readonly stateMachineArn: string;
  readonly tableName: string;
  readonly queueUrl: string;
  readonly dlqUrl: string;
  readonly quarantineQueueUrl: string;
  readonly payloadBucket: string;
  readonly eventSourceId: string;
  readonly functions: Readonly<Record<string, string>>;
}

function outputNames({ template }: SynthesisedWorker): OutputNames {
  const output = Object.entries(template.Outputs).find(([id]) => id.startsWith('WorkerNames'));
  if (output === undefined) throw new Error('The template has no output with the names of the worker');
  return JSON.parse(evaluate(output[1].Value, String));
}

/** What a local runtime is told, so that it has the worker's name and queue as the template has them. */
export function runtimeSettings(worker: SynthesisedWorker) {
  const { Resources } = worker.template;
  const { workerName, queueUrl, functions } = outputNames(worker);
  const { BatchSize, ScalingConfig } = mappingOf(Resources, functions.starter).Properties;
  const { RedrivePolicy } = resource(Resources, queueUrl).Properties;
  if (BatchSize === undefined || ScalingConfig === undefined || RedrivePolicy === undefined) {
    throw new Error('The template leaves settings of the queue and its reader to AWS');
  }
  return {
    workerName,
    batchSize: BatchSize,
    maxConcurrency: ScalingConfig.MaximumConcurrency,
    maxReceiveCount: RedrivePolicy.maxReceiveCount,
  };
}

/** What the worker of a template is made of, as it finds itself in a local runtime. */
export function resolveWorker(worker: SynthesisedWorker, place: Surroundings) {
  const { Resources } = worker.template;
  const names = outputNames(worker);
  const local = place.names;
  const queueUrl = (url: string) => `${place.endpoint}/000000000000/${queueNameOf(url)}`;
  const values = new Map([
    [names.stateMachineArn, local.stateMachineArn],
    [names.tableName, local.tableName],
    [names.queueUrl, queueUrl(local.queueUrl)],
    [names.dlqUrl, queueUrl(local.dlqUrl)],
    [names.quarantineQueueUrl, queueUrl(local.quarantineQueueUrl)],
    [names.payloadBucket, local.payloadBucket],
    [names.eventSourceId, place.eventSourceId],
    ...Object.entries(names.functions).map(
      ([name, reference]) => [`${reference}.Arn`, functionArn(name)] as const,
    ),
  ]);
  const resolve = (value: JsonValue) =>
    evaluate(value, (expression) => {
      const found = values.get(expression);
      if (found === undefined) throw new Error(`${expression} of the template has no local counterpart`);
      return found;
    });
  const resolveAll = (expressions: Expressions) =>
    Object.fromEntries(Object.entries(expressions).map(([name, value]) => [name, resolve(value)]));

  const ownEndpoints = Object.fromEntries(SERVICES.map((service) => [service, place.endpoint]));
  const endpoints = Object.fromEntries(
    Object.entries({ ...ownEndpoints, ...place.otherEndpoints }).map(([service, url]) => [
      `AWS_ENDPOINT_URL_${service}`,
      url,
    ]),
  );
  const bundles = Object.entries(names.functions).map(([name, reference]): FunctionBundle => {
    const { Code, Handler, Timeout, MemorySize, Environment } = resource(Resources, reference).Properties;
    return {
      name,
      folder: join(worker.folder, `asset.${Code.S3Key.replace(/\.zip$/, '')}`),
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      environment: { ...resolveAll(Environment.Variables), ...endpoints },
    };
  });
  const machine = resource(Resources, names.stateMachineArn).Properties;
  const substitutions = new Map(Object.entries(resolveAll(machine.DefinitionSubstitutions)));
  const definition = evaluate(machine.DefinitionString, String).replace(/\$\{(\w+)\}/g, (text, name) => {
    const value = substitutions.get(name);
    if (value === undefined) throw new Error(`DefinitionSubstitutions of the template lacks ${text}`);
    return value;
  });
  const patterns = mappingOf(Resources, names.functions.waker).Properties.FilterCriteria?.Filters ?? [];
  return {
    bundles,
    definition,
    streamFilters: patterns.map(({ Pattern }) => JSON.parse(Pattern)),
  };
}

/** The event source of a function. */
function mappingOf(resources: Readonly<Record<string, Resource>>, reference: string | undefined): Resource {
  const found = Object.values(resources).find(
    ({ Type, Properties }) =>
      Type === 'AWS::Lambda::EventSourceMapping' && evaluate(Properties.FunctionName, String) === reference,
  );
  if (found === undefined) throw new Error(`The template has no event source for ${reference}`);
  return found;
}

function resource(resources: Readonly<Record<string, Resource>>, reference: string): Resource {
  const found = resources[reference];
  if (found === undefined) throw new Error(`The template has no resource ${reference}`);
  return found;
}

/**
 * The text of a property, as CloudFormation makes it.
 * @param nameOf of `Id` for a Ref, and of `Id.Attribute` for a GetAtt
 */
function evaluate(value: JsonValue, nameOf: (expression: string) => string): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = Object(value);
  if (typeof Ref === 'string') return nameOf(Ref);
  if (Array.isArray(attribute)) return nameOf(attribute.join('.'));
  if (Array.isArray(join)) {
    const [separator, parts] = join;
    return parts.map((part: JsonValue) => evaluate(part, nameOf)).join(separator);
  }
  throw new Error(`The template has an expression that is not resolved here: ${JSON.stringify(value)}`);
}
