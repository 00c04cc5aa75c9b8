import { describe, expect, it } from 'vitest';
import { resolveEffect } from '../../lambdas/aws/effect-resolution.ts';
import type { EffectRequest } from '../../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../../lambdas/core/provider.ts';
import type { ServiceCall } from '../../local/edge/service-call.ts';
import { endOf, FAULTS, runInjected, siteOf } from '../helpers/injection.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { writtenCalls } from '../helpers/known-calls.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { type CallFate, createLedger, type Ledger, ledgerProvider } from '../helpers/providers.ts';
import type { TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const EFFECT = `${KEY}#ask`;
const FUNCTION = 'run-effect-Bank';

/** What RunEffect and AwaitResolution ask of AWS. */
const isInjected = ({ caller, operation }: ServiceCall) =>
  caller === FUNCTION || (caller === undefined && operation === 'TransactWriteItems');

type FaultName = keyof typeof FAULTS;
/** What differs by the kind of provider; the log repeats a write that was refused for now, whoever it is for. */
const LOSSES: readonly FaultName[] = ['done, and its answer lost', 'killed before it', 'killed after it'];

interface Case {
  readonly name: string;
  readonly kind: Parameters<typeof ledgerProvider>[1];
  readonly fates: readonly CallFate[];
  readonly faults: readonly FaultName[];
  readonly effect?: Partial<EffectRequest>;
  readonly settings?: Parameters<typeof probe>[1];
  /** Most calls that may reach the provider, whatever goes wrong. @default 3 */
  readonly mostCalls?: number;
}

const CASES: readonly Case[] = [
  {
    name: 'a lost answer, then a large one, of a provider with idempotency keys',
    kind: 'idempotent',
    fates: ['lostAfter'],
    faults: Object.keys(FAULTS),
    settings: { data: 'reference' },
  },
  {
    name: 'a provider with a lookup, asked after a call that had not happened and one that had',
    kind: 'lookup',
    fates: ['lostBefore', 'lostAfter'],
    faults: LOSSES,
  },
  {
    name: 'a lost answer that a person finds',
    kind: 'neither',
    fates: ['lostAfter'],
    faults: [...LOSSES, 'denied access'],
    mostCalls: 1,
  },
  {
    name: 'a throttled question whose answer is shared',
    kind: 'harmless',
    fates: ['throttled'],
    faults: LOSSES,
    effect: { cache: { key: 'question', ttlSeconds: 3600 } },
  },
];

/** The same provider with answers too large for a row. */
const talkative = ({ name, open }: ProviderDefinition): ProviderDefinition => ({
  name,
  open: (context) =>
    Object.fromEntries(
      Object.entries(open(context)).map(([key, operation]) => [
        key,
        {
          ...operation,
          execute: async (call) => ({ ...(await operation.execute(call)), response: 'x'.repeat(70 * 1024) }),
        },
      ]),
    ),
});

/** Runs until nothing is left; a person says of every doubt that the call has happened. */
async function runWithPerson(worker: TestWorker): Promise<void> {
  await worker.send(probeEnvelope());
  const inDoubt = async () =>
    (await worker.row({ PK: `EFFECT#${EFFECT}`, SK: 'LOG' }))?.status === 'IN_DOUBT';
  const idle = async () =>
    (await worker.depth(worker.names.queueUrl)) === 0 && (await worker.executions('RUNNING')) === 0;
  await worker.until(async () => (await inDoubt()) || (await idle()));
  if (await inDoubt()) {
    const { dynamodb, sfn } = worker.clients;
    const at = new Date(worker.clock.now()).toISOString();
    const deps = { dynamodb, sfn, tableName: worker.names.tableName, at };
    await resolveEffect(EFFECT, { verdict: 'completed', reference: 'found' }, deps);
  }
  await worker.untilIdle();
}

function scenarioOf({ kind, fates, effect, settings }: Case, ledger: Ledger) {
  ledger.fates.push(...fates);
  const request = { name: 'ask', provider: 'Bank', operation: 'charge', request: { amount: 1 }, ...effect };
  const type = probe(
    ({ effects }) => ({ effects: [request], set: { value: effects.ask?.reference === undefined ? 0 : 1 } }),
    settings,
  );
  const provider = ledgerProvider('Bank', kind, ledger);
  return {
    options: { messages: [type], providers: [kind === 'idempotent' ? talkative(provider) : provider] },
    run: runWithPerson,
  };
}

const cleanRun = (given: Case) => runInjected(scenarioOf(given, createLedger()), isInjected);

describe.each(CASES)('$name', (given) => {
  it.each(given.faults)('ends as it should, whichever call is %s', async (name) => {
    const clean = await cleanRun(given);
    const expected = await endOf(clean);
    expect(expected.inbox).toMatchObject([{ status: 'COMPLETED', outcome: 'APPLIED' }]);

    for (const [index, call] of clean.calls.entries()) {
      const ledger = createLedger();
      const injected = await runInjected(scenarioOf(given, ledger), isInjected, index, FAULTS[name]);
      const site = `${siteOf(call)}, call ${index}`;
      expect(await endOf(injected), site).toEqual(expected);
      // The inbox of a type that is kept out of sight does not say which aggregate a row is of.
      if (given.settings === undefined) await expectInvariants(injected.worker, { keys: [KEY] });
      expect(ledger.calls.length, site).toBeLessThanOrEqual(given.mostCalls ?? 3);
      if (given.kind !== 'harmless') expect(ledger.done.length, site).toBeLessThanOrEqual(1);
      await injected.worker.stop();
    }
    await clean.worker.stop();
  });
});

describe('the cases', () => {
  it('make every call that RunEffect holds', async () => {
    const runs = await Promise.all(CASES.map(cleanRun));
    const made = new Set(runs.flatMap(({ calls }) => calls.map(({ operation }) => operation)));
    const written = new Set(writtenCalls(['run-effect']).map(({ operation }) => operation));

    expect([...written].filter((operation) => !made.has(operation))).toEqual([]);
  });
});
