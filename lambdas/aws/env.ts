import { ConfigurationError } from '../core/errors.ts';

/** Environment of a function. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws ConfigurationError naming the variable */
export function requireEnv(env: Environment, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') {
    throw new ConfigurationError(`The environment variable ${name} is not set`);
  }
  return value;
}

/** @throws ConfigurationError naming the variable */
export function requireNumber(env: Environment, name: string): number {
  const value = Number(requireEnv(env, name));
  if (!Number.isFinite(value)) {
    throw new ConfigurationError(`The environment variable ${name} must be a number`);
  }
  return value;
}

/** A comma-separated list; empty when the variable is. */
export const listEnv = (env: Environment, name: string): readonly string[] =>
  (env[name] ?? '').split(',').filter((entry) => entry !== '');
