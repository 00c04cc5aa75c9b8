import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checklists } from '../../../cli/doctor/checklists.ts';
import { localNames } from '../../../local/names.ts';
import { documentAt, ROOT } from '../../helpers/documents.ts';

const { text } = documentAt('docs/deploying.md');
const UNREAD = { unread: 'nobody was asked' };

/** Every line that the doctor can print. */
const doctorLines = checklists({
  names: localNames('worker', false),
  queue: UNREAD,
  dlq: UNREAD,
  quarantineQueue: UNREAD,
  streamFailureQueue: UNREAD,
  table: UNREAD,
  ttl: UNREAD,
  backups: UNREAD,
  machine: UNREAD,
  source: UNREAD,
  changes: UNREAD,
  queueReaders: UNREAD,
  streamReaders: UNREAD,
  functions: new Map(),
  reserved: UNREAD,
  account: UNREAD,
  alarms: UNREAD,
  dashboard: UNREAD,
  bucketVersioning: UNREAD,
  bucketAccess: UNREAD,
  bucketLifecycle: UNREAD,
}).flatMap(({ lines }) => lines.flatMap(({ checks }) => checks.map(({ line }) => line)));

describe('docs/deploying.md', () => {
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  const quoted = rows.flatMap((row) => [...row.matchAll(/"([^"]+)"/g)].map(([, line = '']) => line));

  it('quotes the doctor', () => {
    expect(quoted.length).toBeGreaterThan(10);
  });

  it.each(quoted)('quotes the doctor’s line: %s', (line) => {
    expect(doctorLines).toContain(line);
  });

  it('names every key of the context that the app reads, and no other', () => {
    const app = readFileSync(new URL('bin/app.ts', ROOT), 'utf8');
    const read = [...app.matchAll(/(?:tryGetContext|setting|address)\(\s*'(\w+)'/g)].map(
      ([, key = '']) => key,
    );
    const [, table = ''] =
      /\| context of `bin\/app\.ts`[^\n]*\n\| ---[^\n]*\n((?:\|[^\n]*\n)+)/.exec(text) ?? [];
    const named = table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, key = '']) => key));
    expect(named.sort()).toEqual([...new Set(read)].sort());
  });

  it('names every output of the stack', () => {
    const stack = readFileSync(new URL('lib/worker-stack.ts', ROOT), 'utf8');
    const outputs = [...stack.matchAll(/new CfnOutput\(this, '(\w+)'/g)].map(([, name = '']) => name);
    expect(outputs.length).toBeGreaterThan(2);
    for (const name of outputs) expect(text).toContain(`| \`${name}\` |`);
  });
});
