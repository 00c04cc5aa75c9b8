import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../lambdas/core/provider.ts';
import type { Source } from '../lambdas/core/sources.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';

/** What a team writes, and a worker in this process is made of. */
export interface Modules {
  readonly messages: readonly AnyMessageDefinition[];
  readonly providers: readonly ProviderDefinition[];
  readonly sources: readonly Source[];
}

/** This project's message types, providers and sources, or those that a module exports under these names. */
export async function loadModules(path: string | undefined): Promise<Modules> {
  if (path === undefined) {
    return {
      messages: (await import('../lambdas/messages/index.ts')).messages,
      providers: (await import('../lambdas/providers/index.ts')).providers,
      sources: (await import('../lambdas/sources/index.ts')).sources,
    };
  }
  let loaded: { messages?: unknown; providers?: unknown; sources?: unknown };
  try {
    loaded = await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`--messages ${path} cannot be loaded: ${why}`, EXIT.USAGE, { cause: error });
  }
  const { messages, providers = [], sources = [] } = loaded;
  if (!isDefinitions(messages)) {
    throw new CliError(
      `--messages ${path} must export "messages", an array of what defineMessage returns, with at least one entry`,
    );
  }
  if (!isProviders(providers)) {
    throw new CliError(`--messages ${path}: "providers" must be an array of what defineProvider returns`);
  }
  if (!isSources(sources)) {
    throw new CliError(`--messages ${path}: "sources" must be an array of sources`);
  }
  return { messages, providers, sources };
}

const isProviders = (value: unknown): value is readonly ProviderDefinition[] =>
  Array.isArray(value) &&
  value.every((entry) => typeof entry?.name === 'string' && typeof entry?.open === 'function');

const isSources = (value: unknown): value is readonly Source[] =>
  Array.isArray(value) &&
  value.every((entry) => typeof entry?.name === 'string' && typeof entry?.toEnvelope === 'function');

function isDefinitions(value: unknown): value is readonly AnyMessageDefinition[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((entry) => typeof entry?.type === 'string' && typeof entry?.plan === 'function')
  );
}

/** What a team's own providers may read: the environment that the command was started with. */
export const settingsOf = (env: Io['env']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
