import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { DamagedStateError } from './damaged-state-error.ts';
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

const FILE = 'state.json';

/** Reads the state that was kept in a data directory; undefined when there is none. */
export async function readState(dataDir: string): Promise<LocalState | undefined> {
  let text: string;
  try {
    text = await readFile(`${dataDir}/${FILE}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's words, which quote what is kept.
    throw new DamagedStateError(`${dataDir}/${FILE} is damaged: it is no JSON`);
  }
}

/** Writes the state beside the old one and then in its place, so that a crash leaves one of the two. */
export async function writeState(dataDir: string, state: LocalState): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const next = `${dataDir}/${FILE}.next`;
  await writeFile(next, JSON.stringify(state));
  await rename(next, `${dataDir}/${FILE}`);
}
