import { CAUSE_CHARACTERS, ERROR_CHARACTERS } from './limits.ts';

/** A failure of a state, with the error name and cause that Retry, Catch and the history see. */
export class StateError extends Error {
  override readonly name = 'StateError';
  /** The error name, e.g. `States.Timeout`; undefined only for a Fail state without `Error`. */
  readonly error: string | undefined;
  /** The text of the cause, undefined when the service gives none. */
  readonly text: string | undefined;

  constructor(error: string | undefined, text?: string) {
    super(text ?? error ?? 'The state failed.');
    // The service cuts what is too long rather than refuse it.
    this.error = error?.slice(0, ERROR_CHARACTERS);
    this.text = text?.slice(0, CAUSE_CHARACTERS);
  }
}

/** A JSONata expression or its result did not do; becomes `States.QueryEvaluationError` and an `EvaluationFailed` event. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
  /** The field, with slashes (`Output/total`); absent when no field is to blame. */
  readonly location: string | undefined;
  /** True when the state had already taken its fields up, which moves the link of the event. */
  readonly afterEntry: boolean;

  constructor(message: string, location?: string, afterEntry = false) {
    super(message);
    this.location = location;
    this.afterEntry = afterEntry;
  }
}

/** The reason with which an execution's or a branch's work is aborted. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** An error answer of the API: `name` is the service's exception name. */
export class ApiError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** One thing that is wrong with a definition. */
export interface Fault {
  /** JSON path into the definition, e.g. `$.States.Plan.Next`. */
  readonly path: string;
  readonly message: string;
}

/** A definition was refused; lists every fault found. */
export class InvalidDefinitionError extends Error {
  override readonly name = 'InvalidDefinition';
  readonly faults: readonly Fault[];

  constructor(machine: string, faults: readonly Fault[]) {
    const lines = faults.map((fault) => `  ${fault.path}: ${fault.message}`);
    super(`State machine '${machine}' can't be loaded:\n${lines.join('\n')}`);
    this.faults = faults;
  }
}
