/** What the process answers, for scripts. Documented in docs/command-line.md. */
export const EXIT = {
  OK: 0,
  /** It ran, and the outcome is bad: an example, a replay or a check failed. */
  FAILED: 1,
  /** The command was not understood, or what it was given is invalid. Nothing was done. */
  USAGE: 2,
  /** There is no such key, case, effect or stack. */
  NOT_FOUND: 3,
  /** The endpoint or AWS could not be reached, or refused the credentials. */
  UNREACHABLE: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
