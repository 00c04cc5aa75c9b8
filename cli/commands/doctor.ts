import { type Checklist, checklists } from '../doctor/checklists.ts';
import type { Check } from '../doctor/facts.ts';
import { readFacts } from '../doctor/read-facts.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { table } from '../table.ts';
import type { Target } from '../target.ts';

const MARKS: Readonly<Record<Check['result'], string>> = {
  pass: 'pass',
  fail: 'FAIL',
  unknown: 'not checkable',
};

/** Goes through the checklists, line by line; exit code 1 when a line fails. */
export async function doctor(json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const lists = checklists(await readFacts(target));
  if (json) io.out(JSON.stringify(lists));
  else io.out(table(['', 'line', 'found, or how to show it'], lists.flatMap(rowsOf)));
  const results = lists.flatMap(({ lines }) => lines.map(({ result }) => result));
  return results.includes('fail') ? EXIT.FAILED : EXIT.OK;
}

function rowsOf({ list, lines }: Checklist): readonly (readonly string[])[] {
  return lines.flatMap(({ number, line, result, checks, shown }) => [
    [MARKS[result], `${list} ${number}: ${line}`, shownBeside(checks, shown)],
    ...checks.map((check) => [MARKS[check.result], `  - ${check.line}`, check.detail]),
  ]);
}

const shownBeside = (checks: readonly Check[], shown: string | undefined): string =>
  shown === undefined ? '' : checks.length === 0 ? shown : `and besides: ${shown}`;
