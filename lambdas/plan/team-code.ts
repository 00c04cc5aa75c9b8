import { WorkerFailure } from '../core/errors.ts';

/** An exception of no known kind out of the team's own code: a bug there, and no fault of the function. */
export class TeamCodeError extends Error {
  override readonly name = 'TeamCodeError';

  constructor(thrown: unknown) {
    super('the handler or a schema of this message type threw', { cause: thrown });
  }
}

/**
 * Runs the team's code (handlers, schemas, upcasts).
 * @throws WorkerFailure as thrown, TeamCodeError around anything else
 */
export async function runTeamCode<T>(code: () => T | Promise<T>): Promise<T> {
  try {
    return await code();
  } catch (thrown) {
    throw thrown instanceof WorkerFailure ? thrown : new TeamCodeError(thrown);
  }
}
