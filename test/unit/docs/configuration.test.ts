import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configurationPage, PAGE } from '../../../scripts/configuration.ts';

describe('docs/configuration.md', () => {
  it('is what the props say: node scripts/configuration.ts writes it anew', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(configurationPage());
  });

  it.each(['visibilityTimeout', 'maxReceiveCount', 'invalidMessages', 'payloadBuckets', 'backlogMessages'])(
    'lists %s with its default',
    (prop) => {
      expect(configurationPage()).toMatch(new RegExp(`^\\| \`${prop}\` \\| [^|]+ \\| [^|]+ \\|$`, 'm'));
    },
  );
});
