import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../cli/program.ts';
import { documents, ROOT, typedIn } from '../../helpers/documents.ts';
import { testIo } from '../cli/cli-io.ts';

const program = createProgram(testIo(), async () => undefined);
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL('package.json', ROOT), 'utf8'),
);
const typed = documents
  .filter(({ path }) => path !== 'CHANGELOG.md')
  .flatMap((document) => typedIn(document).map((line) => ({ path: document.path, line })));

/** A line with `stepwell` in it, cut at what the shell would cut. */
const stepwell = typed.flatMap(({ path, line }) =>
  [...line.matchAll(/(?:^|npx |npm run )stepwell(?: --)? ([a-z][^|;&]*)/g)].map(([, words = '']) => ({
    path,
    words: words.trim(),
  })),
);

/** The command that the words name, and what is left of them. */
function commandOf(words: string): { readonly command: Command; readonly rest: readonly string[] } {
  let command: Command = program;
  const rest = words.split(/\s+/);
  for (;;) {
    const [next] = rest;
    const found = command.commands.find((entry) => entry.name() === next);
    if (found === undefined) return { command, rest };
    command = found;
    rest.shift();
  }
}

describe('the commands that the documents name', () => {
  it('are there to be checked', () => {
    expect(stepwell.length).toBeGreaterThan(40);
  });

  it.each(stepwell)('$path: stepwell $words', ({ words }) => {
    const { command, rest } = commandOf(words);
    expect(command.name(), `there is no such command: ${words}`).not.toBe('stepwell');
    const options = command.options.map(({ long }) => long);
    for (const word of rest.filter((entry) => /^--[a-z]/.test(entry))) {
      expect(options).toContain(word.replace(/[=,.)\]].*$/, ''));
    }
  });

  it.each(
    typed.flatMap(({ path, line }) =>
      [...line.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, script = '']) => ({ path, script })),
    ),
  )('$path: npm run $script', ({ script }) => {
    expect(Object.keys(scripts)).toContain(script);
  });
});
