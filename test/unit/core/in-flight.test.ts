import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inFlightChange, lastChanges, partOf, partsOf, roomOfPart } from '../../../lambdas/core/in-flight.ts';
import type { TableChange } from '../../../lambdas/core/stream.ts';

const inbox = (status: string): TableChange => ({
  PK: 'IDEMP#k',
  SK: 'WORKER#w',
  newImage: { status },
  oldImage: { status: 'RECEIVED' },
});
const waiter = (PK: string, there: boolean): TableChange => {
  const image = { idempotencyKey: 'k', taskToken: 't' };
  return {
    PK,
    SK: 'WAITER#Stream#0000000000000002#e',
    newImage: there ? image : undefined,
    oldImage: there ? undefined : image,
  };
};

describe('a change of the table', () => {
  it.each([
    ['a row that completes', inbox('COMPLETED'), { change: 'release', look: false }],
    ['a row that fails for good', inbox('FAILED_TERMINAL'), { change: 'release', look: false }],
    ['a row whose attempt failed', inbox('FAILED_RETRYABLE'), { change: 'take', look: false }],
    ['a row that is replayed', inbox('PROCESSING'), { change: 'take', look: false }],
    ['an execution that parks', waiter('CASE#1', true), { change: 'release', look: false }],
    ['a park that ends', waiter('CASE#1', false), { change: 'take', look: true }],
    ['an effect in doubt', waiter('EFFECT#e', true), { change: 'release', look: false }],
    ['an effect that is resolved', waiter('EFFECT#e', false), { change: 'take', look: true }],
  ])('means what it should: %s', (_what, change, expected) => {
    expect(inFlightChange(change)).toEqual({ key: 'k', ...expected });
  });

  it.each([
    ['a row that was received', inbox('RECEIVED')],
    ['a conflict', { ...inbox('COMPLETED'), SK: 'CONFLICT#h' }],
    ['an aggregate', { ...inbox('COMPLETED'), PK: 'CASE#1', SK: 'META' }],
    ['a row that expires', { ...inbox('COMPLETED'), newImage: undefined }],
  ])('means nothing: %s', (_what, change) => {
    expect(inFlightChange(change)).toBeUndefined();
  });

  it('is overtaken by later ones of its key in the batch, and by no other', () => {
    const other = { ...inbox('FAILED_RETRYABLE'), PK: 'IDEMP#other' };

    expect(lastChanges([inbox('FAILED_RETRYABLE'), other, inbox('COMPLETED')])).toEqual([
      { key: 'k', change: 'release', look: false },
      { key: 'other', change: 'take', look: false },
    ]);
  });
});

describe('the parts of the register', () => {
  it('take the limit between them, no part more than a fair share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), (limit) => {
        const rooms = Array.from({ length: partsOf(limit) }, (_, part) => roomOfPart(part, limit));

        expect(rooms.reduce((sum, room) => sum + room, 0)).toBe(limit);
        expect(Math.max(...rooms) - Math.min(...rooms)).toBeLessThanOrEqual(1);
        expect(Math.min(...rooms)).toBeGreaterThan(0);
      }),
    );
  });

  it('are found by the key alone', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 100 }),
        (key, parts) => {
          const part = partOf(key, parts);

          expect(part).toBe(partOf(key, parts));
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThan(parts);
        },
      ),
    );
  });
});
