import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../../cli/main.ts';
import { testIo } from './cli-io.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('stepwell local', () => {
  it('serves the other commands of its folder until Ctrl+C, and ends cleanly', async () => {
    const stop = new AbortController();
    const io = testIo({ signal: stop.signal });
    const running = main(['local', '--quiet'], io);
    while (!io.lines.includes('Ctrl+C stops.')) await turn();

    const other = testIo({ cwd: io.cwd });
    expect(await main(['ls', '--json'], other)).toBe(0);
    expect(JSON.parse(other.lines[0] ?? '')).toMatchObject({ attention: [], executions: { RUNNING: '0' } });

    stop.abort(new Error('stopped'));
    expect(await running).toBe(0);
    expect(await main(['ls'], other)).toBe(2);
  });

  it('says that a port is in use instead of failing with a stack', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const io = testIo();

    expect(await main(['local', '--port', String(port)], io)).toBe(2);
    expect(io.notes.join('\n')).toContain(`port ${port} on 127.0.0.1 is in use`);
  });
});
