import { createManifest, createRegistry } from '../lambdas/core/manifest.ts';
import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import { streamFilters } from '../lambdas/core/stream.ts';
import { SILENT } from '../lambdas/core/telemetry.ts';
import {
  DEFAULT_NUMBERS,
  providerPlaceholder,
  renderDefinition,
  substitute,
} from '../statemachines/definition.ts';
import type { Deployment } from './deployment.ts';
import type { LocalClients } from './embedded-services.ts';
import { functionArn, type LambdaFunction } from './event-sources/index.ts';
import { FUNCTION_NAMES, runEffectName, type WorkerFunctionsOptions, workerFunctions } from './functions.ts';
import type { WorkerNames } from './names.ts';
import type { InputOptions, InputQueues, LocalRuntimeOptions } from './runtime-options.ts';

/** A further queue, with the function that reads it. */
export type Input = InputOptions & InputQueues & { readonly functionName: string };

/** What a deployment in this process is made of, beside the runtime's options. */
export interface InProcessParts {
  readonly names: WorkerNames;
  readonly inputs: readonly Input[];
  readonly eventSourceId: string;
  readonly clients: LocalClients;
}

/** The worker's handlers in this process, and the definition from its file. */
export function inProcessDeployment(
  messages: readonly AnyMessageDefinition[],
  options: LocalRuntimeOptions,
  { names, inputs, eventSourceId, clients }: InProcessParts,
): Deployment {
  const { clock, random, newId, telemetry = SILENT, providers = [], maxInFlight } = options;
  const numbers = { ...DEFAULT_NUMBERS, ...options.numbers };
  const build = (overrides: Partial<WorkerFunctionsOptions>) =>
    workerFunctions({
      clock,
      random,
      newId,
      telemetry,
      names,
      messages,
      sources: options.sources ?? [],
      providers,
      providerEnvironment: options.providerEnvironment ?? {},
      providerSecret: options.providerSecret,
      aggregates: options.aggregates ?? {},
      invalidMessages: options.invalidMessages ?? 'dlq',
      invalidReceives: options.invalidReceives ?? 3,
      executionTimeoutSeconds: numbers.executionTimeoutSeconds,
      inboxTtlSeconds: numbers.inboxTtlSeconds,
      eventSourceId,
      maxInFlight,
      clients,
      ...overrides,
    });
  const functions: Record<string, LambdaFunction> = { ...build({}) };
  for (const { functionName, maxReceiveCount, queueUrl, queueArn, dlqUrl, ...input } of inputs) {
    const { [FUNCTION_NAMES.starter]: starter } = build({
      names: { ...names, queueUrl, queueArn, dlqUrl },
      telemetry: input.telemetry ?? SILENT,
      invalidMessages: 'dlq',
      // Above what the queue allows: the queue's own redrive policy moves the message.
      invalidReceives: maxReceiveCount + 1,
    });
    if (starter !== undefined) functions[functionName] = starter;
  }
  const providerNames = providers.map(({ name }) => name);
  const definition = substitute(renderDefinition({ numbers, providers: providerNames }), {
    PlanFunctionArn: functionArn(FUNCTION_NAMES.plan),
    CommitFunctionArn: functionArn(FUNCTION_NAMES.commit),
    ReportFailureFunctionArn: functionArn(FUNCTION_NAMES.reportFailure),
    ...Object.fromEntries(
      providerNames.map((name) => [providerPlaceholder(name), functionArn(runEffectName(name))]),
    ),
    TableName: names.tableName,
    WorkerName: names.workerName,
    QuarantineQueueUrl: names.quarantineQueueUrl,
  });
  return {
    functions,
    definition: JSON.stringify(definition),
    streamFilters: streamFilters({
      manifest: createManifest(createRegistry(messages)),
      inFlightLimit: maxInFlight !== undefined,
    }),
    stop: async () => {},
  };
}
