import { listAttention } from '../../lambdas/aws/quarantine.ts';
import { type Row, textOf } from '../../lambdas/core/ports.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { daysBack, lookedBack, parseDuration } from '../inbox.ts';
import type { Io } from '../io.ts';
import { table } from '../table.ts';
import type { Target } from '../target.ts';

/** The effects of which nobody knows whether they happened. */
export async function listInDoubt(
  options: { readonly since: string; readonly json: boolean },
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const rows: Row[] = [];
  for (const day of daysBack(io.clock.now(), parseDuration(options.since))) {
    rows.push(...(await listAttention(target.clients.dynamodb, target.names.tableName, 'IN_DOUBT', day)));
  }
  const effects = rows.map((row) => ({
    effect: (textOf(row, 'PK') ?? '').slice('EFFECT#'.length),
    provider: textOf(row, 'provider'),
    operation: textOf(row, 'operation'),
    since: textOf(row, 'attentionAt'),
    late: lateOutcome(row),
  }));
  io.note(lookedBack(options.since));
  if (options.json) io.out(JSON.stringify(effects));
  else if (effects.length === 0) io.out(`No effect is in doubt (last ${options.since}).`);
  else {
    const head = ['effect', 'provider', 'operation', 'in doubt since', 'came late'];
    io.out(
      table(
        head,
        effects.map((effect) => Object.values(effect)),
      ),
    );
    io.note(
      'Ask the provider, then: stepwell effects resolve EFFECT --completed --reference R | --not-done | --failed CODE',
    );
  }
  return EXIT.OK;
}

/** What a call came to whose caller had been taken for dead: evidence for the person who decides. */
function lateOutcome({ lateResult: late }: Row): string | undefined {
  if (typeof late !== 'object' || late === null || !('outcome' in late)) return undefined;
  return String(late.outcome);
}
