import type { FunctionConfiguration } from '@aws-sdk/client-lambda';
import { check, EFFECT_PART, every, type Facts, faulty, NOT_NAMED } from './facts.ts';

const RUNTIME = 'nodejs24.x';
const ARCHITECTURE = 'arm64';

/** What must hold of the functions. */
export function functionChecks({ functions, names }: Facts) {
  const known = every(functions);
  const all = 'found' in known && known.found.length === 0 ? NOT_NAMED : known;
  const variable = ({ Environment }: FunctionConfiguration, name: string) => Environment?.Variables?.[name];
  /** Judges each function by itself, and names those that are not well. */
  const naming =
    (isWell: (configuration: FunctionConfiguration) => boolean, well: string) =>
    (parts: readonly (readonly [string, FunctionConfiguration])[]) =>
      faulty(
        parts.filter(([, configuration]) => !isWell(configuration)).map(([part]) => part),
        well,
      );
  const effects =
    'found' in all ? { found: all.found.filter(([part]) => part.startsWith(EFFECT_PART)) } : all;
  return {
    active: check(
      'Every function is active, and its last update has succeeded',
      all,
      naming(
        ({ State = 'Active', LastUpdateStatus = 'Successful' }) =>
          (State === 'Active' || State === 'Inactive') && LastUpdateStatus === 'Successful',
        'all',
      ),
    ),
    runtime: check(
      `Every function runs ${RUNTIME} on ${ARCHITECTURE}`,
      all,
      naming(
        ({ Runtime, Architectures = [] }) => Runtime === RUNTIME && Architectures.includes(ARCHITECTURE),
        'all',
      ),
    ),
    table: check(
      "Every function uses the worker's table, and no other",
      all,
      naming((configuration) => variable(configuration, 'TABLE_NAME') === names.tableName, names.tableName),
    ),
    worker: check(
      'Every function works for this worker',
      all,
      naming(
        (configuration) => variable(configuration, 'WORKER_NAME') === names.workerName,
        names.workerName,
      ),
    ),
    release: check('All functions are of one release', all, (parts) => {
      const releases = new Set(
        parts.map(([, configuration]) => variable(configuration, 'RELEASE') ?? 'none'),
      );
      return [releases.size === 1 && !releases.has('none'), [...releases].join(', ')];
    }),
    roles: check('No two functions share a role', all, (parts) => {
      const roles = parts.map(([, { Role }]) => Role ?? '');
      const shared = parts.filter(([, { Role }]) => roles.filter((role) => role === Role).length > 1);
      return faulty(
        shared.map(([part]) => part),
        `${roles.length} roles`,
      );
    }),
    logs: check("Every function writes to its own log group of the worker's", all, (parts) =>
      faulty(
        parts
          .filter(([part, { LoggingConfig }]) => LoggingConfig?.LogGroup !== names.logGroups?.[part])
          .map(([part]) => part),
        'all',
      ),
    ),
    effectLog: check(
      "Every provider's function writes the effect log, and rows of it expire",
      effects,
      (parts) =>
        parts.length === 0
          ? [true, 'no provider is configured']
          : naming(
              (configuration) =>
                variable(configuration, 'TABLE_NAME') === names.tableName &&
                Number(variable(configuration, 'EFFECT_TTL_SECONDS')) > 0,
              `${parts.length} providers`,
            )(parts),
    ),
  };
}
