import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReplayOptions } from '../../../cli/commands/replay.ts';
import type { Io } from '../../../cli/io.ts';
import type { Target } from '../../../cli/target.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';
import { seededRandom, sequentialIds } from '../../helpers/ids.ts';
import type { TestWorker } from '../../helpers/worker.ts';

/** Replays everything of the last day, up to a hundred, and waits for what becomes of it. */
export const REPLAY_OPTIONS: ReplayOptions = {
  code: undefined,
  since: '24h',
  max: 100,
  rate: 5,
  dryRun: false,
  continue: false,
  newDefinition: false,
  wait: 300,
  json: true,
};

/** What a command wrote, and the surroundings it ran in. */
export interface TestIo extends Io {
  readonly lines: string[];
  readonly notes: string[];
}

/** Surroundings of a command, with an empty folder to work in. */
export function testIo(overrides: Partial<Io> = {}): TestIo {
  const lines: string[] = [];
  const notes: string[] = [];
  return {
    lines,
    notes,
    out: (line) => lines.push(line),
    note: (line) => notes.push(line),
    readInput: async () => '',
    clock: createVirtualClock(),
    random: seededRandom(1),
    newId: sequentialIds(),
    signal: new AbortController().signal,
    env: {},
    cwd: mkdtempSync(join(tmpdir(), 'stepwell-cli-')),
    ...overrides,
  };
}

/** The worker of a test as the target of a command. */
export const targetOf = (worker: TestWorker): Target => ({
  names: worker.names,
  clients: worker.clients,
  consoleLink: () => undefined,
});
