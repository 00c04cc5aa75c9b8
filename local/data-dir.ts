import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DamagedStateError } from './damaged-state-error.ts';
import { JOURNAL_FILE } from './dynamodb/journal.ts';
import type { S3Snapshot } from './s3/index.ts';
import type { SqsSnapshot } from './sqs/index.ts';
import type { Snapshot } from './stepfunctions/snapshot.ts';

/** What the local runtime keeps besides the table, which has a journal of its own. */
export interface LocalState {
  readonly sqs: SqsSnapshot;
  readonly s3: S3Snapshot;
  readonly stepFunctions: Snapshot;
  /** Up to where the waker has seen the table's changes; undefined before the first. */
  readonly wakerPosition: string | undefined;
  /** Up to where the outbox pipe has published. */
  readonly pipePosition: string | undefined;
}

/** Folder of the table inside a data directory. */
export const tableFolder = (dataDir: string): string => `${dataDir}/dynamodb`;

const stateFile = (dataDir: string): string => `${dataDir}/state.json`;

/**
 * Opens a data directory; makes it when it is missing.
 * @returns the state that was kept in it; undefined when there is none
 * @throws DamagedStateError when one of its two halves is missing or the state cannot be read
 */
export async function openDataDir(dataDir: string): Promise<LocalState | undefined> {
  await makeFolder(resolve(dataDir));
  const state = stateFile(dataDir);
  const journal = `${tableFolder(dataDir)}/${JOURNAL_FILE}`;
  const [lost, found] = existsSync(state) ? [journal, state] : [state, journal];
  if (!existsSync(found)) return undefined;
  // Queues and executions without their rows, or the other way round, would do work again or never.
  if (!existsSync(lost)) {
    throw new DamagedStateError(
      `${lost} is missing, although ${found} is there; restore it, or remove the folder to start empty`,
    );
  }
  const text = await readFile(state, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message is left out: it quotes what is kept.
    throw new DamagedStateError(
      `${state} is damaged: it is no JSON; restore it, or remove the folder to start empty`,
    );
  }
}

/** Writes the state beside the old one and then in its place, so that a crash leaves one of the two. */
export async function writeState(dataDir: string, state: LocalState): Promise<void> {
  const next = `${stateFile(dataDir)}.next`;
  await writeFile(next, JSON.stringify(state));
  await rename(next, stateFile(dataDir));
}

/** Makes one folder at a time: `mkdir` with `recursive` never returns where the system refuses a folder, as below /proc. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path);
}
