import { EXIT, type ExitCode } from './exit-codes.ts';

/** Something foreseeable: its message is all that the user sees, and its code is what the process answers. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.USAGE, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
