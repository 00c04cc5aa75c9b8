import { describe, expect, it } from 'vitest';
import type { ServiceCall } from '../../local/edge/service-call.ts';
import { renderDefinition } from '../../statemachines/definition.ts';
import { taskStates } from '../helpers/definition.ts';
import { endOf, FAULTS, runInjected, siteOf } from '../helpers/injection.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { writtenCalls } from '../helpers/known-calls.ts';
import { SCENARIOS } from '../helpers/scenarios.ts';

const FUNCTIONS = ['starter', 'plan', 'commit', 'report-failure'];
/** States of the effects, whose calls are in effect-injection.test.ts. */
const EFFECT_STATES = ['RunEffect', 'AwaitResolution'];

const isInjected = ({ caller }: ServiceCall) => caller === undefined || FUNCTIONS.includes(caller);
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
    const clean = await runInjected(scenario, isInjected);
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
      const injected = await runInjected(scenario, isInjected, index, fault);
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
