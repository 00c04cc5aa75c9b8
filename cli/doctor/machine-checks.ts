import { isDeepStrictEqual } from 'node:util';
import type { FunctionConfiguration } from '@aws-sdk/client-lambda';
import { providerPlaceholder, renderDefinition, substitute } from '../../statemachines/definition.ts';
import type { TargetNames } from '../stack-names.ts';
import { both, check, EFFECT_PART, every, type Facts, faulty } from './facts.ts';

/** What must hold of the state machine. */
export function machineChecks({ machine, functions, names }: Facts) {
  const deployed = both(machine, every(functions));
  return {
    active: check('The state machine is active, and of type STANDARD', machine, ({ status, type }) => [
      status === 'ACTIVE' && type === 'STANDARD',
      `${status}, ${type}`,
    ]),
    definition: check(
      "Its definition is this release's, so that Commit alone writes, and guards what it writes",
      deployed,
      ([{ definition = '{}' }, parts]) => {
        const found: unknown = JSON.parse(definition);
        const same = isDeepStrictEqual(found, expected(found, new Map(parts), names));
        return [
          same,
          same ? 'equal' : 'another: deploy this release, or use the command of the deployed one',
        ];
      },
    ),
    timeouts: check(
      "Each function's time-out is below its task's, so that Lambda's own answer comes first",
      deployed,
      ([{ definition = '{}' }, parts]) => {
        const found: unknown = JSON.parse(definition);
        const late = parts.filter(([part, { Timeout = 3 }]) => {
          const state = part.startsWith(EFFECT_PART) ? 'RunEffect' : STATES[part];
          const seconds = state === undefined ? undefined : timeoutOf(found, state);
          return seconds !== undefined && Timeout >= seconds;
        });
        return faulty(
          late.map(([part]) => part),
          'all',
        );
      },
    ),
    logs: check(
      'The state machine logs to the log group of the worker',
      machine,
      ({ loggingConfiguration: { level = 'OFF', destinations = [] } = {} }) => {
        const groups = destinations.map(
          ({ cloudWatchLogsLogGroup }) => cloudWatchLogsLogGroup?.logGroupArn ?? '',
        );
        const named = names.stateMachineLogGroup;
        const own = named === undefined || groups.some((arn) => arn.includes(`:log-group:${named}`));
        return [
          level !== 'OFF' && own,
          level === 'OFF' ? 'OFF' : `${level}, ${groups.join(', ') || 'nowhere'}`,
        ];
      },
    ),
    data: check('Its logs hold no execution data', machine, ({ loggingConfiguration }) => {
      const included = loggingConfiguration?.includeExecutionData ?? false;
      return [!included, included ? 'they do: messages may be personal data' : 'none'];
    }),
  };
}

const STATES: Readonly<Record<string, string>> = { plan: 'Plan', commit: 'Commit' };

/** This release's definition with the numbers of the deployed one and the names of what is deployed. */
function expected(
  found: unknown,
  functions: ReadonlyMap<string, FunctionConfiguration>,
  names: TargetNames,
): unknown {
  const arn = (part: string) => functions.get(part)?.FunctionArn ?? '';
  const providers = [...functions.keys()]
    .filter((part) => part.startsWith(EFFECT_PART))
    .map((part) => part.slice(EFFECT_PART.length));
  const numbers = {
    executionTimeoutSeconds: numberIn(found, 'TimeoutSeconds'),
    inboxTtlSeconds: Number(functions.get('commit')?.Environment?.Variables?.INBOX_TTL_SECONDS),
    planTimeoutSeconds: timeoutOf(found, 'Plan'),
    commitTimeoutSeconds: timeoutOf(found, 'Commit'),
    runEffectTimeoutSeconds: timeoutOf(found, 'RunEffect'),
    resolutionTimeoutSeconds: timeoutOf(found, 'AwaitResolution'),
  };
  const known = Object.fromEntries(
    Object.entries(numbers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return substitute(renderDefinition({ numbers: known, providers }), {
    PlanFunctionArn: arn('plan'),
    CommitFunctionArn: arn('commit'),
    ReportFailureFunctionArn: arn('report-failure'),
    TableName: names.tableName,
    WorkerName: names.workerName,
    QuarantineQueueUrl: names.quarantineQueueUrl,
    ...Object.fromEntries(providers.map((name) => [providerPlaceholder(name), arn(`${EFFECT_PART}${name}`)])),
  });
}

function numberIn(value: unknown, name: string): number | undefined {
  const number: unknown = Object(value)[name];
  return typeof number === 'number' ? number : undefined;
}

/** Of a state at any depth: names are unique in a definition. */
function timeoutOf(value: unknown, state: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    const seconds = key === state ? numberIn(entry, 'TimeoutSeconds') : timeoutOf(entry, state);
    if (seconds !== undefined) return seconds;
  }
  return undefined;
}
