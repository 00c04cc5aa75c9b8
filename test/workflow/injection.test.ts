import { describe, expect, it } from 'vitest';
import type { Row } from '../../lambdas/core/ports.ts';
import type { Fault } from '../../local/edge/faults.ts';
import type { ServiceCall } from '../../local/edge/service-call.ts';
import { renderDefinition } from '../../statemachines/definition.ts';
import { taskStates } from '../helpers/definition.ts';
import { allRows, expectInvariants, inboxRows, quarantineRows } from '../helpers/invariants.ts';
import { writtenCalls } from '../helpers/known-calls.ts';
import { SCENARIOS, type Scenario } from '../helpers/scenarios.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

/** What goes wrong once at one call. */
const FAULTS: Readonly<Record<string, (call: ServiceCall) => Fault>> = {
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

const FUNCTIONS = ['starter', 'plan', 'commit', 'report-failure'];
/** States of the effects, whose calls have faults of their own. */
const EFFECT_STATES = ['RunEffect', 'AwaitResolution'];

const isInjected = ({ caller }: ServiceCall) => caller === undefined || FUNCTIONS.includes(caller);
const siteOf = ({ caller, service, operation }: ServiceCall) =>
  `${caller ?? 'states'} ${service}:${operation}`;

interface Run {
  readonly worker: TestWorker;
  readonly calls: readonly ServiceCall[];
}

/** Runs a scenario in which the n-th injected call meets a fault. */
async function run(scenario: Scenario, at?: number, fault?: (call: ServiceCall) => Fault): Promise<Run> {
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
async function endOf({ worker }: Run) {
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

/** What a scenario comes to without faults. */
interface CleanRun {
  readonly sites: readonly string[];
  readonly calls: readonly ServiceCall[];
  readonly end: Awaited<ReturnType<typeof endOf>>;
  /** States that were entered. */
  readonly states: readonly string[];
  /** Calls that no scenario before it reaches in the same way. */
  readonly fresh: readonly number[];
}
let known: Promise<ReadonlyMap<string, CleanRun>> | undefined;

/** The clean runs of all scenarios, made by the first test that asks. */
function cleanRuns(): Promise<ReadonlyMap<string, CleanRun>> {
  known ??= makeCleanRuns();
  return known;
}

async function makeCleanRuns(): Promise<ReadonlyMap<string, CleanRun>> {
  const runs = new Map<string, CleanRun>();
  const reached = new Set<string>();
  for (const scenario of SCENARIOS) {
    const clean = await run(scenario);
    const sites = clean.calls.map(siteOf);
    const states: string[] = [];
    for (const key of scenario.keys) states.push(...(await clean.worker.execution(key)).states);
    const fresh = sites.flatMap((_site, index) => {
      const way = sites.slice(0, index + 1).join(' > ');
      if (reached.has(way)) return [];
      reached.add(way);
      return [index];
    });
    runs.set(scenario.name, { sites, calls: clean.calls, states, fresh, end: await endOf(clean) });
    await expectInvariants(clean.worker, { keys: scenario.keys });
    await clean.worker.stop();
  }
  return runs;
}

describe('the scenarios', () => {
  it('make every call that the functions hold', async () => {
    const made = [...(await cleanRuns()).values()].flatMap(({ calls }) => calls);
    const missing = writtenCalls(FUNCTIONS).filter(
      ({ operation, functions }) =>
        !made.some((call) => call.operation === operation && functions.includes(call.caller ?? '')),
    );

    expect(missing).toEqual([]);
  });

  it('enter every task of the definition', async () => {
    const entered = new Set([...(await cleanRuns()).values()].flatMap(({ states }) => states));
    const tasks = taskStates(renderDefinition()).map(({ name }) => name);

    expect(tasks.filter((name) => !entered.has(name) && !EFFECT_STATES.includes(name))).toEqual([]);
  });
});

describe.each(SCENARIOS)('$name', (scenario) => {
  it.each(Object.entries(FAULTS))('ends as it should, whichever call is %s', async (name, fault) => {
    const clean = (await cleanRuns()).get(scenario.name);

    for (const index of clean?.fresh ?? []) {
      const injected = await run(scenario, index, fault);
      const site = `${clean?.sites[index]}, call ${index}`;
      const end = await endOf(injected);
      // Only a person can grant the right to read an object: no number of attempts would.
      const refused = name === 'denied access' && clean?.sites[index] === 'plan s3:GetObject';
      if (refused) expect(end.cases, site).toMatchObject([{ code: 'PAYLOAD_ACCESS_DENIED' }]);
      else expect(end, site).toEqual(clean?.end);
      await expectInvariants(injected.worker, { keys: scenario.keys });
      await injected.worker.stop();
    }
  });
});
