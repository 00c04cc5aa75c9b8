import type { Clock, NewId, Random } from '../lambdas/core/clock.ts';

/** What a command has of the world. */
export interface Io {
  /** Writes a line for the reader, on standard output. */
  out(line: string): void;
  /** Writes a line about the run itself (progress, warnings, errors), on standard error. */
  note(line: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}
