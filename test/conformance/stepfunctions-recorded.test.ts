import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';
import { isJsonObject } from '../../local/edge/json.ts';

import { InvalidDefinitionError } from '../../local/stepfunctions/errors.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';
import { createHarness, type FakeLambda, type Harness, thrown } from '../unit/stepfunctions/harness.ts';
import { mismatch } from './recorded-values.ts';

interface RecordedCase {
  readonly id: string;
  readonly definition: JsonObject;
  readonly input: JsonValue;
  readonly lambda?: Readonly<
    Record<
      string,
      { readonly behaviour: string; readonly errorType?: string; readonly errorMessage?: string }
    >
  >;
  readonly masks?: readonly string[];
  readonly expected: JsonObject & { readonly events: readonly JsonObject[] | null };
}

const path = process.env.ASL_RECORDED;
const cases: readonly RecordedCase[] = path === undefined ? [] : JSON.parse(readFileSync(path, 'utf8'));

describe.skipIf(path === undefined)('executions recorded on AWS', () => {
  it.each(cases)('$id', async (recorded) => {
    const lambda = mockOf(recorded);
    const harness = createHarness(undefined, {
      clock: createVirtualClock(),
      lambda,
      accountId: '000000000000',
    });
    const refused = load(harness, recorded.definition);
    if (refused !== undefined) {
      // Only features that this runtime says it does not have may be refused.
      expect(refused).toMatch(/not supported/);
      return;
    }
    const arn = await harness.start(recorded.input);
    const outcome = await harness.finish(arn);
    expect(mismatch(expectedOutcome(recorded), actualOutcome(outcome), recorded.masks ?? [])).toBeUndefined();
    if (recorded.expected.events === null) return;
    const events = (await harness.events(arn)).map(flatten);
    expect(
      mismatch(inOrder(recorded.expected.events), select(events, recorded), recorded.masks ?? []),
    ).toBeUndefined();
  });

  it('lists what it refuses', () => {
    const refused = cases.flatMap((recorded) => load(createHarness(), recorded.definition) ?? []);
    process.stdout.write(`recorded executions: ${cases.length}, refused when loaded: ${refused.length}\n`);
    for (const reason of refused) process.stdout.write(`${reason}\n`);
    expect(cases.length).toBeGreaterThan(0);
  });
});

describe.runIf(path === undefined)('executions recorded on AWS', () => {
  it('are skipped: set ASL_RECORDED to the file of recorded executions to run them', (context) => {
    process.stdout.write(
      'Skipped: set ASL_RECORDED to the file of recorded executions to compare with AWS.\n',
    );
    context.skip();
  });
});

function load(harness: Harness, definition: JsonObject): string | undefined {
  try {
    harness.sfn.addStateMachine({ name: 'machine', definition });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidDefinitionError) return error.message;
    throw error;
  }
}

/** The recorded functions either give back their event or fail, each time with the cause that was recorded. */
function mockOf(recorded: RecordedCase): FakeLambda {
  const [mock] = Object.values(recorded.lambda ?? {});
  if (mock?.behaviour !== 'raise') return (payload) => ({ payload, payloadBytes: spacedLength(payload) });
  const failures = (recorded.expected.events ?? []).filter((event) => event.type === 'TaskFailed');
  return (_payload, call) => {
    const cause = failures[call - 1]?.cause;
    if (!isJsonObject(cause)) return thrown('NotRecorded');
    return {
      functionError: { ...cause, errorType: mock.errorType ?? '', errorMessage: mock.errorMessage ?? '' },
    };
  };
}

/** The recorded functions write JSON with a space after each comma and colon. */
function spacedLength(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value));
  const isArray = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([key, item]) => (isArray ? 0 : Buffer.byteLength(JSON.stringify(key)) + 2) + spacedLength(item),
  );
  return 2 + parts.reduce((sum, part) => sum + part, 0) + 2 * Math.max(0, parts.length - 1);
}

function expectedOutcome({ expected }: RecordedCase): JsonObject {
  return pick(expected, ['status', 'output', 'error', 'cause']);
}

function actualOutcome(answer: JsonObject): JsonObject {
  const outcome = pick(answer, ['status', 'error', 'cause']);
  return typeof answer.output === 'string' ? { ...outcome, output: JSON.parse(answer.output) } : outcome;
}

function pick(source: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]])));
}

/** Brings an event of the API into the recordings' form. */
function flatten(event: JsonObject): JsonObject {
  const flat: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(event)) {
    if (key === 'id' || key === 'type') flat[key] = value;
    if (key === 'previousEventId') flat.prev = value;
    if (!key.endsWith('EventDetails') || typeof value !== 'object' || value === null) continue;
    for (const [name, detail] of Object.entries(value)) flat[RENAMED[name] ?? name] = decode(name, detail);
  }
  return flat;
}

const RENAMED: Readonly<Record<string, string>> = { name: 'state' };
const DECODED = new Set(['input', 'output', 'parameters']);

function decode(name: string, value: JsonValue): JsonValue {
  if (name === 'assignedVariables' && typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, JSON.parse(String(text))]));
  }
  if (typeof value !== 'string') return value;
  return DECODED.has(name) || (name === 'cause' && value.startsWith('{')) ? JSON.parse(value) : value;
}

/** Fields that the recordings leave out of every event. */
const UNRECORDED = new Set(['roleArn', 'inputDetails', 'outputDetails', 'assignedVariablesDetails']);
/** Fields that describe the recording. */
const NOTES = new Set(['stateDerived', 'restored']);

/** What was recorded, without notes and derived state names; where the order was lost, sorted. */
function inOrder(events: readonly JsonObject[]): JsonValue {
  const cleaned = events.map((event) => {
    const entries = Object.entries(event).filter(
      ([key, value]) =>
        !NOTES.has(key) &&
        !(key === 'prev' && value === null) &&
        !(key === 'state' && event.stateDerived === true),
    );
    return Object.fromEntries(entries);
  });
  return [
    cleaned.filter((event) => typeof event.id === 'number'),
    sortByType(cleaned.filter((event) => typeof event.id !== 'number').map(withoutOrder)),
  ];
}

/** Our events, split like the recorded ones. */
function select(events: readonly JsonObject[], recorded: RecordedCase): JsonValue {
  const known = new Map((recorded.expected.events ?? []).map((event) => [event.id, event]));
  const cleaned = events.map((event) =>
    Object.fromEntries(Object.entries(event).filter(([key]) => !UNRECORDED.has(key))),
  );
  const ordered = cleaned.filter((event) => known.has(event.id ?? null));
  return [
    ordered.map((event) => {
      if (known.get(event.id ?? null)?.prev !== null) return event;
      const { prev: _, ...rest } = event;
      return rest;
    }),
    sortByType(cleaned.filter((event) => !known.has(event.id ?? null)).map(withoutOrder)),
  ];
}

function withoutOrder({ id: _id, prev: _prev, ...rest }: JsonObject): JsonObject {
  return rest;
}

function sortByType(events: readonly JsonObject[]): readonly JsonObject[] {
  return [...events].sort((a, b) => (String(a.type) < String(b.type) ? -1 : 1));
}
