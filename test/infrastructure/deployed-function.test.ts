import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundledFunction } from '../helpers/deployed-function.ts';
import { removeFolder } from '../helpers/folders.ts';

/** A function from the text of its module. */
function functionOf(source: string, environment: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-function-'));
  writeFileSync(join(folder, 'index.mjs'), source);
  const made = bundledFunction({
    name: 'any',
    folder,
    handler: 'index.handler',
    timeoutSeconds: 30,
    memoryMegabytes: 128,
    environment,
  });
  onTestFinished(async () => {
    await made.stop();
    removeFolder(folder);
  });
  return made;
}

describe('a bundle in a process of its own', () => {
  it('finds what it is given and what Lambda sets in its environment, and nothing else', async () => {
    const source = 'export const handler = async () => Object.keys(process.env).sort()';
    expect(await functionOf(source, { GIVEN: 'yes' }).invoke({})).toEqual([
      'AWS_ACCESS_KEY_ID',
      'AWS_LAMBDA_FUNCTION_NAME',
      'AWS_REGION',
      'AWS_SECRET_ACCESS_KEY',
      'GIVEN',
      'LAMBDA_TASK_ROOT',
      '_HANDLER',
    ]);
  });

  it('fails at every invocation when a module was left out of it', async () => {
    const lacking = functionOf(`import '@aws-sdk/client-sqs'; export const handler = async () => 1`);
    for (let invocation = 0; invocation < 2; invocation += 1) {
      await expect(lacking.invoke({})).rejects.toThrow(/Cannot find package '@aws-sdk\/client-sqs'/);
    }
  });

  it('fails when its handler is not exported', async () => {
    await expect(functionOf('export const other = 1').invoke({})).rejects.toThrow(
      'index.handler is undefined or not exported',
    );
  });

  it('hands an error on by the name that it has, whatever its class is called', async () => {
    const source = `class a extends Error { name = 'Named' } class b extends Error {}
      export const handler = async ({ named }) => { throw named ? new a('one') : new b('two') }`;
    const failing = functionOf(source);

    await expect(failing.invoke({ named: true })).rejects.toMatchObject({ name: 'Named', message: 'one' });
    await expect(failing.invoke({ named: false })).rejects.toMatchObject({ name: 'Error', message: 'two' });
  });

  it('says so when it ends in the middle of an invocation, and begins anew at the next', async () => {
    const source = `export const handler = async ({ last }) => { if (last) process.exit(3); return 'alive' }`;
    const mortal = functionOf(source);

    await expect(mortal.invoke({ last: true })).rejects.toMatchObject({ name: 'Runtime.ExitError' });
    expect(await mortal.invoke({ last: false })).toBe('alive');
  });
});
