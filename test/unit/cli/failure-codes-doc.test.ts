import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAILURE_CODES } from '../../../lambdas/core/errors.ts';

const page = readFileSync(new URL('../../../docs/failure-codes.md', import.meta.url), 'utf8');
const documented = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);

describe('the table of failure codes', () => {
  it('lists each code that the worker produces once, and no other', () => {
    expect([...documented].sort()).toEqual(Object.values(FAILURE_CODES).sort());
  });

  it('links only sections that the runbooks have', () => {
    const runbooks = readFileSync(new URL('../../../docs/runbooks.md', import.meta.url), 'utf8');
    const anchors = [...runbooks.matchAll(/^<a id="([a-z-]+)">/gm)].map(([, id]) => id);
    const links = [...page.matchAll(/runbooks\.md#([a-z-]+)/g)].map(([, id]) => id);
    expect(anchors).toEqual(expect.arrayContaining(links));
    expect(anchors).toEqual([
      'backlog',
      'dlq',
      'quarantine',
      'stuck',
      'publish-again',
      'in-doubt',
      'replay',
      'throttled',
      'restore',
    ]);
  });
});
