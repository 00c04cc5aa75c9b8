import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../../cli/main.ts';
import { chooseWorker, parseNames } from '../../../cli/stack-names.ts';
import { localNames } from '../../../local/names.ts';
import { testIo } from './cli-io.ts';

describe('the command line', () => {
  it('answers 2 and names the command when there is no such command', async () => {
    const io = testIo();

    expect(await main(['frobnicate'], io)).toBe(2);
    expect(io.notes.join('\n')).toContain('frobnicate');
  });

  it('answers 0 to --help, which documents the exit codes', async () => {
    const io = testIo();

    expect(await main(['--help'], io)).toBe(0);
    expect(io.lines.join('\n')).toContain('Exit codes');
  });

  it('says how to get a worker when there is none to talk to', async () => {
    const io = testIo();

    expect(await main(['ls'], io)).toBe(2);
    expect(io.notes.join('\n')).toMatch(/npx stepwell local.*--endpoint.*--stack/);
  });

  it('answers 4 when nobody listens at the endpoint', async () => {
    const io = testIo();

    expect(await main(['ls', '--endpoint', 'http://127.0.0.1:1'], io)).toBe(4);
    expect(io.notes.join('\n')).toContain('cannot be reached');
  });

  it.each(['case', 'case/', '/CASE-1'])(
    'answers 2 to the aggregate %s, which is not TYPE/ID',
    async (aggregate) => {
      const endpoint = ['--endpoint', 'http://127.0.0.1:1'];
      for (const command of [
        ['forget', aggregate],
        ['replay', '--aggregate', aggregate],
      ]) {
        const io = testIo();

        expect(await main([...command, ...endpoint], io)).toBe(2);
        expect(io.notes.join('\n')).toContain('TYPE/ID, e.g. case/CASE-123');
      }
    },
  );

  it('tells in a line what the service refuses, without a stack trace', async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(
        JSON.stringify({ __type: 'com.amazonaws.sqs#InvalidMessageContents', message: 'No such.' }),
      );
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const io = testIo();

    try {
      const file = join(process.cwd(), 'local/examples/messages/good.json');
      expect(await main(['send', file, '--endpoint', `http://127.0.0.1:${port}`], io)).toBe(1);
      expect(io.notes.join('\n')).toContain('No such. (InvalidMessageContents)');
    } finally {
      server.close();
    }
  });

  it('says that a data directory cannot be read, without what is in it', async () => {
    const io = testIo();
    mkdirSync(join(io.cwd, 'dynamodb'));
    writeFileSync(join(io.cwd, 'dynamodb', 'dynamodb.ndjson'), '');
    writeFileSync(join(io.cwd, 'state.json'), '{"secret');

    expect(await main(['local', '--data-dir', io.cwd], io)).toBe(2);
    expect(io.notes.join('\n')).toContain('state.json is damaged');
    expect(io.notes.join('\n')).not.toContain('secret');
  });

  it('says which line of a table journal cannot be read', async () => {
    const io = testIo();
    mkdirSync(join(io.cwd, 'dynamodb'));
    writeFileSync(join(io.cwd, 'state.json'), '{}');
    writeFileSync(join(io.cwd, 'dynamodb', 'dynamodb.ndjson'), '{"broken\n{"kind":"x"}\n');

    expect(await main(['local', '--data-dir', io.cwd], io)).toBe(2);
    expect(io.notes.join('\n')).toContain("line 1 can't be read");
  });

  it.runIf(existsSync('/proc'))(
    'refuses a data directory below a folder that cannot be written',
    async () => {
      const io = testIo();

      expect(await main(['local', '--data-dir', '/proc/none/here'], io)).toBe(2);
      expect(io.notes.join('\n')).toContain('--data-dir cannot be used: ENOENT');
    },
  );

  it('refuses a port that is none', async () => {
    expect(await main(['local', '--port', '70000'], testIo())).toBe(2);
  });

  it('refuses a module without message types', async () => {
    const io = testIo();

    expect(await main(['local', '--messages', 'local/names.ts'], io)).toBe(2);
    expect(io.notes.join('\n')).toContain('must export "messages"');
  });
});

describe("a stack's workers", () => {
  const [a, b] = [localNames('a', false), localNames('b', false)];

  it('are read from the outputs that are maps of names, and from no other', () => {
    expect(parseNames(JSON.stringify(a))).toEqual([a]);
    expect(parseNames('{"other": 1}')).toEqual([]);
    expect(parseNames('{broken')).toEqual([]);
    expect(parseNames('https://example.com')).toEqual([]);
  });

  it('need a choice when there are several', () => {
    expect(chooseWorker('S', [a, b], 'b')).toBe(b);
    expect(chooseWorker('S', [a], undefined)).toBe(a);
    expect(() => chooseWorker('S', [a, b], undefined)).toThrow('--worker: a, b');
    expect(() => chooseWorker('S', [a, b], 'c')).toThrow('no worker c');
  });

  it('are told from a stack that has none', () => {
    expect(() => chooseWorker('S', [], undefined)).toThrow('Stack S holds no Stepwell worker');
  });

  it('say what is missing when an older release has deployed them', () => {
    const { payloadBucket: _gone, ...older } = a;
    const parsed = parseNames(JSON.stringify(older));

    expect(() => chooseWorker('S', parsed, undefined)).toThrow(
      'deployed by an older release: its output lacks payloadBucket. Deploy the stack again',
    );
  });
});
