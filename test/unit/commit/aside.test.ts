import { describe, expect, it } from 'vitest';
import { readAside } from '../../../lambdas/commit/aside.ts';
import { sha256 } from '../../../lambdas/core/identity.ts';
import type { PayloadReader } from '../../../lambdas/core/ports.ts';

const bytes = Buffer.from(JSON.stringify({ decision: 'Commit' }));
const ref = { bucket: 'b', key: 'k', sha256: sha256(bytes) };
const holding = (object: Awaited<ReturnType<PayloadReader['fetch']>>): PayloadReader => ({
  allows: () => true,
  fetch: async () => object,
});

describe('readAside', () => {
  it('gives the decision that was put aside', async () => {
    expect(await readAside(holding({ status: 'found', bytes }), ref)).toEqual({ decision: 'Commit' });
  });

  it.each([
    ['is gone', { status: 'notFound' }],
    ['is another', { status: 'found', bytes: Buffer.from('{"decision":"Commit","outcome":"SUPERSEDED"}') }],
  ] as const)('gives nothing when the object %s', async (_what, object) => {
    expect(await readAside(holding(object), ref)).toBeUndefined();
  });
});
