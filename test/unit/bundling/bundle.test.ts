import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundle } from '../../../lib/bundling/bundle.ts';

/** Bundles a module with that text, and runs it. @returns what it printed, line by line, and the files of the bundle */
async function run(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const entry = join(folder, 'index.js');
  const outdir = join(folder, 'out');
  writeFileSync(entry, text);
  await bundle({ entry, outdir, alias: {}, nodePaths: [] });
  const printed = execFileSync(process.execPath, [join(outdir, 'index.mjs')], { encoding: 'utf8' });
  return {
    printed: printed.trim().split('\n'),
    files: readdirSync(outdir).filter((file) => file.endsWith('.mjs')),
  };
}

describe('a bundle', () => {
  it('has Node’s modules by every kind of import', async () => {
    const { printed } = await run(`
      import crypto, { createHash as hash } from 'node:crypto';
      import * as path from 'path';
      import process from 'node:process';
      import Stream, { Readable } from 'node:stream';
      import { readFile } from 'fs/promises';
      const events = require('node:events');
      console.log(crypto.createHash === hash, path.join('a', 'b'), typeof process.on);
      console.log(new Readable() instanceof Stream, typeof readFile, new events.EventEmitter() instanceof events);
      console.log(crypto.webcrypto === globalThis.crypto);
    `);

    expect(printed).toEqual(['true a/b function', 'true function true', 'true']);
  });

  it('takes a module of Node’s when it is first used', async () => {
    const { printed } = await run(`
      import { connect } from 'node:http2';
      import { createGzip } from 'node:zlib';
      const loaded = () => process.moduleLoadList.some((name) => name === 'NativeModule http2');
      console.log(loaded());
      console.log(typeof connect, loaded());
      if (globalThis.never) createGzip();
    `);

    expect(printed).toEqual(['false', 'function true']);
  });

  it('writes no chunk for code that was left out', async () => {
    const { printed, files } = await run(`
      const unused = () => import('node:http2').then(({ connect }) => connect);
      console.log('done');
    `);

    expect(printed).toEqual(['done']);
    expect(files).toEqual(['index.mjs']);
  });
});
