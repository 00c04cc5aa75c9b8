import { type EffectVerdict, resolveEffect } from '../../lambdas/aws/effect-resolution.ts';
import { FAILURE_CODE_PATTERN } from '../../lambdas/core/errors.ts';
import { textOf } from '../../lambdas/core/ports.ts';
import { effectRowKey } from '../../lambdas/core/table.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { readRow } from '../inbox.ts';
import type { Io } from '../io.ts';
import { plain } from '../table.ts';
import type { Target } from '../target.ts';

export interface ResolveOptions {
  readonly completed?: boolean | undefined;
  readonly reference?: string | undefined;
  /** JSON text. */
  readonly response?: string | undefined;
  readonly notDone?: boolean | undefined;
  /** A failure code. */
  readonly failed?: string | undefined;
  readonly json: boolean;
}

const MAX_REFERENCE = 300;

/** Writes what a person found out about an effect in doubt; the executions that wait for it go on. */
export async function resolve(
  key: string,
  options: ResolveOptions,
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const verdict = verdictOf(options);
  const effect = key.normalize('NFC');
  const row = await readRow(target, effectRowKey(effect));
  if (row === undefined) {
    io.note(`There is no effect ${plain(effect)}: stepwell effects ls lists those in doubt`);
    return EXIT.NOT_FOUND;
  }
  const { resolved, woken } = await resolveEffect(effect, verdict, {
    dynamodb: target.clients.dynamodb,
    sfn: target.clients.sfn,
    tableName: target.names.tableName,
    at: new Date(io.clock.now()).toISOString(),
  });
  if (options.json) io.out(JSON.stringify({ effect, verdict: verdict.verdict, resolved, woken }));
  else if (resolved) io.out(`Resolved: ${outcomeOf(verdict)}. Executions that go on: ${woken}`);
  else io.note(`Nothing was written: the effect is not in doubt, it is ${textOf(row, 'status')}`);
  return resolved ? EXIT.OK : EXIT.FAILED;
}

/** @throws CliError unless it is exactly one verdict, with what belongs to it */
function verdictOf(options: ResolveOptions): EffectVerdict {
  const { completed = false, notDone = false, failed, reference } = options;
  if ([completed, notDone, failed !== undefined].filter(Boolean).length !== 1) {
    throw new CliError('Say one of: --completed --reference R, --not-done, --failed CODE');
  }
  if (!completed && (reference !== undefined || options.response !== undefined)) {
    throw new CliError('--reference and --response belong to --completed');
  }
  if (notDone) return { verdict: 'notDone' };
  if (failed !== undefined) {
    if (!FAILURE_CODE_PATTERN.test(failed)) {
      throw new CliError('--failed takes a code: a letter, then up to 99 letters, digits, _ and .');
    }
    return { verdict: 'failed', code: failed };
  }
  if (reference === undefined || reference === '' || reference.length > MAX_REFERENCE) {
    throw new CliError(
      `--completed needs --reference: the provider's own name of what happened, up to ${MAX_REFERENCE} characters`,
    );
  }
  return options.response === undefined
    ? { verdict: 'completed', reference }
    : { verdict: 'completed', reference, response: parseResponse(options.response) };
}

function parseResponse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError("--response must be JSON: what the provider's answer would have been", EXIT.USAGE, {
      cause: error,
    });
  }
}

function outcomeOf(verdict: EffectVerdict): string {
  switch (verdict.verdict) {
    case 'completed':
      return 'it has happened, and the message goes on';
    case 'notDone':
      return 'it has not happened, and is carried out again under a new provider key';
    case 'failed':
      return `it has failed, and the message ends with ${verdict.code}`;
  }
}
