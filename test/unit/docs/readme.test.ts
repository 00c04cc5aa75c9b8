import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../lib/constructs/workflow-worker-settings.ts';
import { documentAt, ROOT } from '../../helpers/documents.ts';
import { workerProps } from '../../helpers/worker-template.ts';

const { text } = documentAt('README.md');
const [, ofTypes = '', ofWorkers = ''] =
  /## Configuration\n([\s\S]*?)Of a worker([\s\S]*?)\n## /.exec(text) ?? [];
const rowsOf = (section: string) =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
const source = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

describe('the README’s configuration', () => {
  it.each(rowsOf(ofTypes))('names a setting of message types: %s %s', (_, cell = '') => {
    for (const [, name] of cell.matchAll(/`(\w+)`/g))
      expect(source('lambdas/core/message-type.ts')).toMatch(new RegExp(`readonly ${name}\\??:`));
  });

  it.each(rowsOf(ofWorkers))('names a prop of workers: %s %s', (_, cell = '') => {
    for (const [, name] of cell.matchAll(/`(\w+)`/g))
      expect(source('lib/constructs/workflow-worker-props.ts')).toMatch(new RegExp(`readonly ${name}\\??:`));
  });

  it('says the defaults that a worker has', () => {
    const settings = resolveSettings('Worker', workerProps());
    const defaults = new Map(
      rowsOf(ofWorkers).map(([, props = '', value = '']) => [
        props.replaceAll('`', ''),
        value.replaceAll('`', ''),
      ]),
    );
    expect(defaults.get('profile')).toBe(settings.production ? 'production' : 'development');
    expect(defaults.get('fifo')).toBe(String(settings.fifo));
    expect(defaults.get('batchSize, maxConcurrency')).toBe(
      `${settings.batchSize}, ${settings.maxConcurrency}`,
    );
    expect(defaults.get('functionTimeout, visibilityTimeout')).toBe(
      `${settings.functionTimeout.toSeconds()} s, 6 × that + the window`,
    );
    expect(defaults.get('maxReceiveCount')).toBe(String(settings.maxReceiveCount));
    expect(defaults.get('invalidMessages, invalidReceives')).toBe(
      `${settings.invalidMessages}, ${settings.invalidReceives}`,
    );
    expect(defaults.get('executionTimeout')).toBe(`${settings.executionTimeout.toDays()} days`);
    expect(defaults.get('inboxRetentionDays')).toBe(String(settings.inboxRetentionDays));
  });
});
