import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkerNames } from '../local/names.ts';

/** What a running local runtime leaves for the other commands. */
export interface LocalEndpoint {
  readonly url: string;
  readonly pid: number;
  readonly names: WorkerNames;
}

const pathIn = (cwd: string) => join(cwd, '.stepwell', 'local.json');

/** Leaves word of a local runtime in `.stepwell/local.json` of the working directory. */
export async function writePortFile(cwd: string, endpoint: LocalEndpoint): Promise<void> {
  await mkdir(join(cwd, '.stepwell'), { recursive: true });
  await writeFile(pathIn(cwd), `${JSON.stringify(endpoint, null, 2)}\n`);
}

/** Takes the word back, unless another runtime has left its own meanwhile. */
export async function removePortFile(cwd: string, pid: number): Promise<void> {
  const left = await readPortFile(cwd);
  if (left?.pid === pid) await rm(pathIn(cwd), { force: true });
}

/** Undefined when no local runtime has left word. */
export async function readPortFile(cwd: string): Promise<LocalEndpoint | undefined> {
  try {
    const text = await readFile(pathIn(cwd), 'utf8');
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
