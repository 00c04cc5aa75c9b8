import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { costPerMillion, totalOf, US_EAST_1 } from '../../../cli/cost.ts';
import { main } from '../../../cli/main.ts';
import { systemClock } from '../../../lambdas/aws/system.ts';
import { testIo } from './cli-io.ts';

const NOTHING = { transitions: 0, invocations: 0, sqsRequests: 0, readUnits: 0, writeUnits: 0 };
const FUNCTIONS = { milliseconds: 100, memoryMb: 512 };

const perMillion = (usage: Partial<typeof NOTHING>, what: string) =>
  costPerMillion({ ...NOTHING, ...usage }, FUNCTIONS, US_EAST_1).find((line) => line.what === what)
    ?.perMillion;

describe('the cost of a million messages', () => {
  it.each([
    ['two transitions', { transitions: 2 }, 'Step Functions transitions', 50],
    ['two invocations', { invocations: 2 }, 'Lambda requests', 0.4],
    ['two invocations of 100 ms with 512 MB', { invocations: 2 }, 'Lambda GB-seconds', 1.33334],
    ['three SQS requests a batch of ten', { sqsRequests: 0.3 }, 'SQS requests', 0.12],
    ['eight write units', { writeUnits: 8 }, 'DynamoDB write units', 5],
    ['four read units', { readUnits: 4 }, 'DynamoDB read units', 0.5],
  ])('has %s at their price', (_, usage, what, dollars) => {
    expect(perMillion(usage, what)).toBeCloseTo(dollars, 6);
  });

  it('is the sum of its lines', () => {
    const usage = { transitions: 2, invocations: 2, sqsRequests: 0.3, readUnits: 4, writeUnits: 8 };

    expect(totalOf(costPerMillion(usage, FUNCTIONS, US_EAST_1))).toBeCloseTo(57.35334, 6);
  });
});

describe('stepwell cost', () => {
  it('counts what messages use that run through the worker', async () => {
    const io = testIo({ clock: systemClock });

    expect(await main(['cost', '--count', '10', '--json'], io)).toBe(0);

    const answer = JSON.parse(io.lines[0] ?? '');
    expect(answer).toMatchObject({ region: 'us-east-1', usage: { transitions: 2, writeUnits: 8 } });
    expect(answer.totalPerMillion).toBeGreaterThan(55);
  });

  it('says the Region, that prices change, and what is assumed', async () => {
    const io = testIo({ clock: systemClock });

    expect(await main(['cost', '--count', '1'], io)).toBe(0);

    const text = io.lines.join('\n');
    expect(text).toContain('us-east-1');
    expect(text).toContain('prices change');
    expect(text).toContain('50 ms a function with 512 MB');
  });

  it('counts a team’s own types, and leaves its providers out unless told otherwise', async () => {
    const io = testIo({ clock: systemClock });
    const module = join(io.cwd, 'types.mjs');
    const core = new URL('../../../lambdas/index.ts', import.meta.url).href;
    writeFileSync(
      module,
      `import { defineMessage } from '${core}';
       const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
       export const messages = [
         defineMessage({ type: 'OrderPlaced', ordering: 'none', schemas: { 1: any }, plan: () => ({ set: { status: 'PLACED' } }) }),
       ];
       export const providers = [{ name: 'Bank', open: () => { throw new Error('called'); } }];`,
    );
    const file = join(io.cwd, 'order.json');
    writeFileSync(file, JSON.stringify(envelopeOf('OrderPlaced')));

    expect(await main(['cost', file, '--messages', module, '--count', '3', '--json'], io)).toBe(0);

    expect(JSON.parse(io.lines[0] ?? '')).toMatchObject({ usage: { transitions: 2 } });
    expect(io.notes).toEqual([expect.stringContaining('--call-providers')]);
  });

  it.each([
    ['is no envelope', '{}', 'is no envelope: $.'],
    ['is of a type that is not there', JSON.stringify(envelopeOf('Nothing')), 'Nothing is none of the types'],
  ])('runs nothing when the file %s', async (_, text, message) => {
    const io = testIo();
    const file = join(io.cwd, 'message.json');
    writeFileSync(file, text);

    expect(await main(['cost', file], io)).toBe(2);

    expect(io.notes.join('\n')).toContain(message);
  });
});

function envelopeOf(messageType: string) {
  return {
    messageId: 'm-1',
    schemaVersion: 1,
    messageType,
    producer: 'test',
    occurredAt: '2026-01-01T00:00:00Z',
    idempotencyKey: 'k-1',
    aggregateType: 'thing',
    aggregateId: '1',
    payload: {},
  };
}
