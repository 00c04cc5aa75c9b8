import { listCache, purgeCache } from '../../lambdas/aws/effect-resolution.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { plain, table } from '../table.ts';
import type { Target } from '../target.ts';

/** The answers that messages share, without the answers. */
export async function listShared(
  options: { readonly max: number; readonly json: boolean },
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const answers = await listCache(target.clients.dynamodb, target.names.tableName, options.max);
  if (options.json) io.out(JSON.stringify(answers));
  else if (answers.length === 0) io.out('No answer is shared.');
  else {
    const rows = answers.map(({ key, provider, status, expiresAt }) => [key, provider, status, expiresAt]);
    io.out(table(['cache key', 'provider', 'status', 'void from'], rows));
  }
  return EXIT.OK;
}

/** Makes one shared answer void: the next message that asks calls the provider. */
export async function purge(key: string, json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const at = new Date(io.clock.now()).toISOString();
  const purged = await purgeCache(target.clients.dynamodb, target.names.tableName, key, at);
  if (json) io.out(JSON.stringify({ key, purged }));
  else if (purged) io.out(`Void from now on: ${plain(key)}`);
  else io.note(`There is no answer under ${plain(key)}: stepwell cache ls lists them`);
  return purged ? EXIT.OK : EXIT.NOT_FOUND;
}
