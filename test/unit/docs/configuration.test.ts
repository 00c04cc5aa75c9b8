import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configurationPage, LISTED, PAGE } from '../../../scripts/configuration.ts';

describe('docs/configuration.md', () => {
  it('is what the props say: node scripts/configuration.ts writes it anew', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(configurationPage());
  });

  it('lists the props of everything that lib/index.ts exports', () => {
    const barrel = readFileSync(new URL('../../../lib/index.ts', import.meta.url), 'utf8');
    const interfaces = [...barrel.matchAll(/\b\w+(?:Props|Settings|Table|Telemetry|Webhook|Input)\b/g)].map(
      ([name]) => name,
    );
    expect(interfaces.length).toBeGreaterThan(10);
    expect(LISTED).toEqual(expect.arrayContaining(interfaces));
  });

  it.each(['visibilityTimeout', 'maxReceiveCount', 'invalidMessages', 'payloadBuckets', 'backlogMessages'])(
    'lists %s with its default',
    (prop) => {
      expect(configurationPage()).toMatch(new RegExp(`^\\| \`${prop}\` \\| [^|]+ \\| [^|]+ \\|$`, 'm'));
    },
  );
});
