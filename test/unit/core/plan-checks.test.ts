import { describe, expect, it } from 'vitest';
import { TerminalFailure } from '../../../lambdas/core/errors.ts';
import type { Plan } from '../../../lambdas/core/message-type.ts';
import { checkPlan } from '../../../lambdas/core/plan-checks.ts';
import { RESERVED_TYPES } from '../../../lambdas/core/table.ts';
import { probeEnvelope } from '../../helpers/probe.ts';

const check = (plan: Plan) =>
  checkPlan(plan, { envelope: probeEnvelope(), producer: 'worker', occurredAt: '2026-01-01T00:00:00.000Z' });

function refusal(plan: Plan): string {
  try {
    check(plan);
  } catch (error) {
    if (error instanceof TerminalFailure) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

const key = { PK: 'LEDGER#1', SK: 'ENTRY#1' };
const account = { PK: 'ACCOUNT#2', SK: 'META' };
const event = {
  messageType: 'Done',
  idempotencyKey: 'done:1',
  aggregateType: 'probe',
  aggregateId: '1',
  payload: {},
};

describe('checkPlan', () => {
  it.each<readonly [string, Plan, string]>([
    ['an attribute of the worker', { set: { revision: 9 } }, 'set.revision: is written by the worker alone'],
    ['a version', { set: { 'version#Probe': 9 } }, 'set.version#Probe: is written by the worker alone'],
    ['a removed version', { remove: ['version#Probe'] }, 'set.version#Probe: is written by the worker alone'],
    ["an index's key", { set: { attention: 'x' } }, 'set.attention: is written by the worker alone'],
    [
      'set and remove of one attribute',
      { set: { a: 1 }, remove: ['a'] },
      'remove: must not name a, which is set as well',
    ],
    [
      'an empty key',
      { writes: [{ key: { PK: '', SK: 'x' }, set: { a: 1 } }] },
      'writes[0].key: must have a PK and an SK',
    ],
    [
      'a key among the attributes',
      { writes: [{ key, put: { PK: 'x' } }] },
      'writes[0].put: must not hold PK or SK',
    ],
    [
      "an index's key beside",
      { writes: [{ key, put: { attention: 'x' } }] },
      'writes[0].put.attention: is written',
    ],
    ['put and delete', { writes: [{ key, put: {}, delete: true }] }, 'writes[0]: must have exactly one of'],
    ['nothing to write', { writes: [{ key }] }, 'writes[0]: must have exactly one of'],
    [
      'one item twice',
      {
        writes: [
          { key, put: {} },
          { key, delete: true },
        ],
      },
      'writes: must name each item once',
    ],
    [
      'a waiter row',
      { writes: [{ key: { PK: 'A#1', SK: 'WAITER#x' }, delete: true }] },
      'writes[0].key.SK: must not begin',
    ],
    [
      'another aggregate put anew',
      { writes: [{ key: account, put: {} }] },
      'writes[0]: must change an aggregate by set',
    ],
    [
      'another aggregate deleted',
      { writes: [{ key: account, delete: true }] },
      'writes[0]: must change an aggregate by set',
    ],
    [
      "another aggregate's version",
      { writes: [{ key: account, set: { 'version#X': 1 } }] },
      'writes[0].set.version#X: is',
    ],
    [
      "another aggregate's revision",
      { writes: [{ key: account, remove: ['revision'] }] },
      'writes[0].set.revision: is',
    ],
    ['an event twice', { events: [event, event] }, 'events: must have distinct idempotency keys'],
    [
      'an event without a key',
      { events: [{ ...event, idempotencyKey: '' }] },
      'events[0].idempotencyKey: must not be',
    ],
    [
      'a bigint in an event',
      { events: [{ ...event, payload: { a: [1n] } }] },
      'events[0].payload.a[0]: must not be a bigint',
    ],
    ['a long reference', { resultRef: 'x'.repeat(301) }, 'resultRef: must be at most 300 characters'],
  ])('refuses %s', (_what, plan, rule) => {
    expect(refusal(plan)).toContain(`PLAN_INVALID ${rule}`);
  });

  it.each(RESERVED_TYPES)('refuses a write under %s#', (type) => {
    expect(refusal({ writes: [{ key: { PK: `${type}#1`, SK: 'x' }, put: {} }] })).toContain(
      `must not begin with ${type}#`,
    );
  });

  it('gives an event the identity of its cause, the same at every planning', () => {
    const [first] = check({ events: [event] }).events;

    expect(check({ events: [event] }).events).toEqual([first]);
    expect(JSON.parse(first?.envelope ?? '')).toMatchObject({
      causationId: 'msg-probe',
      messageId: first?.eventId,
    });
  });
});
