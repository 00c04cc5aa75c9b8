import type { Row } from '../../lambdas/core/ports.ts';
import type { Fault } from '../../local/edge/faults.ts';
import type { ServiceCall } from '../../local/edge/service-call.ts';
import { allRows, inboxRows, quarantineRows } from './invariants.ts';
import type { Scenario } from './scenarios.ts';
import { startWorker, type TestWorker } from './worker.ts';

/** What goes wrong once at one call. */
export const FAULTS: Readonly<Record<string, (call: ServiceCall) => Fault>> = {
  throttled: () => ({ before: { status: 400, code: 'ThrottlingException' } }),
  'answered with 500': () => ({ before: 500 }),
  'not reached in time': () => ({ before: 'timeout' }),
  'done, and its answer lost': () => ({ after: 'timeout' }),
  'denied access': ({ service }) => ({
    before:
      service === 's3'
        ? { status: 403, code: 'AccessDenied' }
        : { status: 400, code: 'AccessDeniedException' },
  }),
  'killed before it': () => 'kill',
  'killed after it': () => ({ after: 'kill' }),
};

export const siteOf = ({ caller, service, operation }: ServiceCall) =>
  `${caller ?? 'states'} ${service}:${operation}`;

export interface InjectedRun {
  readonly worker: TestWorker;
  readonly calls: readonly ServiceCall[];
}

/** Runs a scenario in which the n-th call of those that `isInjected` names meets a fault. */
export async function runInjected(
  scenario: Pick<Scenario, 'options' | 'run'>,
  isInjected: (call: ServiceCall) => boolean,
  at?: number,
  fault?: (call: ServiceCall) => Fault,
): Promise<InjectedRun> {
  const calls: ServiceCall[] = [];
  const worker = await startWorker({
    ...scenario.options,
    faults(call) {
      if (!isInjected(call)) return 'none';
      calls.push(call);
      return calls.length - 1 === at && fault !== undefined ? fault(call) : 'none';
    },
  });
  await scenario.run(worker);
  return { worker, calls };
}

/** Where everything has ended, without what a fault may rightly change: counts, times, reasons of a detour. */
export async function endOf({ worker }: InjectedRun) {
  const rows = await allRows(worker);
  const { names } = worker;
  const pick = (row: Row, attributes: readonly string[]) =>
    Object.fromEntries(attributes.map((attribute) => [attribute, row[attribute]]));
  return {
    inbox: inboxRows(rows).map((row) =>
      pick(row, ['PK', 'status', 'outcome', 'requestHash', 'failureReason']),
    ),
    aggregates: rows
      .filter(({ SK }) => SK === 'META')
      .map((row) => pick(row, ['PK', 'revision', 'version#Probe', 'value'])),
    conflicts: rows.filter(({ SK }) => String(SK).startsWith('CONFLICT#')).map(({ SK }) => SK),
    cases: quarantineRows(rows).map((row) => pick(row, ['code', 'idempotencyKey', 'messageId'])),
    deadLetters: (await worker.depth(names.dlqUrl)) > 0,
    announced: (await worker.depth(names.quarantineQueueUrl)) > 0,
  };
}
