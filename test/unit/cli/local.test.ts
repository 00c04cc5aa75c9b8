import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../../cli/main.ts';
import { systemClock } from '../../../lambdas/aws/system.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { testIo } from './cli-io.ts';

const turn = () => new Promise((done) => setImmediate(done));

const STEPWELL = new URL('../../../lambdas/index.ts', import.meta.url).href;
const PROVIDERS = new URL('../../../lambdas/shipped-providers.ts', import.meta.url).href;
const TYPE = 'CaseDeadlineCalculationRequested';
const ANY = `{ '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }`;
/** A team's module: a type that has its effect done by a provider of the team's own. */
const MODULE = `
import { defineMessage, defineProvider } from ${JSON.stringify(STEPWELL)};
export const messages = [defineMessage({
  type: '${TYPE}', ordering: 'none', schemas: { 2: ${ANY} },
  plan: ({ effects }) => ({
    effects: [{ name: 'greet', provider: 'Greeter', operation: 'greet', request: {} }],
    resultRef: effects.greet?.reference,
  }),
})];
export const providers = [defineProvider({
  name: 'Greeter',
  operations: ({ env }) => ({ greet: {
    schema: ${ANY}, idempotent: true,
    execute: async () => ({ reference: env.GREETING }),
    classify: () => ({ done: 'unknown', code: 'GREETER_FAILED' }),
  } }),
})];
`;

describe('stepwell local', () => {
  it('serves the other commands of its folder until Ctrl+C, and ends cleanly', async () => {
    const stop = new AbortController();
    const io = testIo({ signal: stop.signal });
    const running = main(['local', '--quiet'], io);
    while (!io.lines.includes('Ctrl+C stops.')) await turn();

    const hint = io.lines.find((line) => line.startsWith('Now your own:'));
    const [, file = ''] = /npx stepwell send (\S+) /.exec(hint ?? '') ?? [];
    expect(JSON.parse(readFileSync(resolve(io.cwd, file), 'utf8'))).toMatchObject({ messageType: TYPE });

    const other = testIo({ cwd: io.cwd });
    expect(await main(['ls', '--json'], other)).toBe(0);
    expect(JSON.parse(other.lines[0] ?? '')).toMatchObject({ attention: [], executions: { RUNNING: '0' } });

    stop.abort(new Error('stopped'));
    expect(await running).toBe(0);
    expect(await main(['ls'], other)).toBe(2);
  });

  it("serves a module's own providers, with the settings of its environment", async () => {
    const stop = new AbortController();
    const io = testIo({ clock: systemClock, signal: stop.signal, env: { GREETING: 'good-morning' } });
    const file = (name: string, text: string) => {
      writeFileSync(join(io.cwd, name), text);
      return join(io.cwd, name);
    };
    const running = main(['local', '--quiet', '--messages', file('messages.mjs', MODULE)], io);
    while (!io.lines.includes('Ctrl+C stops.')) await turn();

    const other = testIo({ cwd: io.cwd });
    const { idempotencyKey } = deadlineEnvelope();
    const message = file('message.json', JSON.stringify(deadlineEnvelope()));
    expect(await main(['send', message], other)).toBe(0);
    let row: { status?: string } = {};
    while (row.status !== 'COMPLETED') {
      other.lines.length = 0;
      if ((await main(['show', idempotencyKey, '--json'], other)) === 0) {
        row = JSON.parse(other.lines[0] ?? '').inbox;
      }
    }

    expect(row).toMatchObject({ resultRef: 'good-morning' });
    stop.abort(new Error('stopped'));
    expect(await running).toBe(0);
  });

  it('names a setting that a provider misses, without a stack', async () => {
    const io = testIo();
    const file = join(io.cwd, 'messages.mjs');
    const provider = `httpJsonProvider({ name: 'Shop', operations: {} })`;
    const providers = `import { httpJsonProvider } from ${JSON.stringify(PROVIDERS)};\nexport const providers = [${provider}];`;
    writeFileSync(file, `${MODULE.slice(0, MODULE.indexOf('export const providers'))}${providers}`);

    expect(await main(['local', '--messages', file], io)).toBe(2);

    expect(io.notes).toEqual([expect.stringMatching(/messages\.mjs.*SHOP_URL is not set/)]);
  });

  it.each([
    ['providers', `export const messages = [{ type: 'A', plan() {} }]; export const providers = [{}];`],
    ['sources', `export const messages = [{ type: 'A', plan() {} }]; export const sources = 'none';`],
  ])('refuses a module whose %s are none', async (name, text) => {
    const io = testIo();
    const file = join(io.cwd, 'messages.mjs');
    writeFileSync(file, text);

    expect(await main(['local', '--messages', file], io)).toBe(2);

    expect(io.notes.join('\n')).toContain(`"${name}" must be an array`);
  });

  it('says that a port is in use instead of failing with a stack', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const io = testIo();

    expect(await main(['local', '--port', String(port)], io)).toBe(2);
    expect(io.notes.join('\n')).toContain(`port ${port} on 127.0.0.1 is in use`);
  });
});
