import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, documentAt, documents, ROOT } from '../../helpers/documents.ts';

const links = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({ path, target })),
);

describe('the documents’ links', () => {
  it('are there to be checked', () => {
    expect(links.length).toBeGreaterThan(60);
  });

  it.each(links)('$path leads to $target', ({ path, target }) => {
    const [file = '', anchor] = target.split('#');
    const to = file === '' ? path : posix.join(posix.dirname(path), file);
    expect(existsSync(new URL(to, ROOT))).toBe(true);
    if (anchor !== undefined) expect([...anchorsOf(documentAt(to))]).toContain(anchor);
  });

  it('lead to every page from the README', () => {
    const { text } = documentAt('README.md');
    for (const { path } of documents.filter(({ path }) => path.startsWith('docs/')))
      expect(text).toContain(`(${path}`);
  });
});
