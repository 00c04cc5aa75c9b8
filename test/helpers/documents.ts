import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Document {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

export const ROOT = new URL('../../', import.meta.url);

/** The pages that people read: those at the root, and docs/. */
export const documents: readonly Document[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs/', ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8') }));

/** @throws Error when there is no such page */
export function documentAt(path: string): Document {
  const found = documents.find((document) => document.path === path);
  if (found === undefined) throw new Error(`There is no ${path}`);
  return found;
}

/** What can be linked to in a page: its headings, as GitHub names them, and what it names itself. */
export function anchorsOf({ text }: Document): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
  const named = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings, ...named]);
}

/** Text that is typed: code spans, and the lines of blocks. */
export function typedIn({ text }: Document): readonly string[] {
  const blocks = [...text.matchAll(/^ *```(?:sh|bash)?\n([\s\S]*?)^ *```/gm)].flatMap(([, block = '']) =>
    block.replaceAll(/\\\n/g, ' ').split('\n'),
  );
  const spans = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, span = '']) => span.replaceAll(/\s+/g, ' '),
  );
  return [...blocks, ...spans].map((line) => line.replace(/\s#.*$/, '').trim());
}
