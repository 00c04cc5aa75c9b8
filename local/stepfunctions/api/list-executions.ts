import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Execution } from '../execution.ts';
import { isExpired } from '../store.ts';
import {
  type ActionDeps,
  compact,
  optionalString,
  pageSize,
  pageToken,
  readPageToken,
  requireMachine,
  validationError,
} from './action.ts';
import { summaryOf } from './describe-execution.ts';

const STATUSES = new Set(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE']);
const REDRIVE_FILTERS = new Set(['REDRIVEN', 'NOT_REDRIVEN']);

/** A machine's executions, newest first. */
export function listExecutions(deps: ActionDeps, request: JsonObject): JsonObject {
  const machine = requireMachine(deps, request);
  const status = optionalChoice(request, 'statusFilter', STATUSES);
  const redrive = optionalChoice(request, 'redriveFilter', REDRIVE_FILTERS);
  const size = pageSize(request);
  const now = deps.machinery.clock.now();
  const page: Execution[] = [];
  let index = startIndex(machine.executions, readPageToken(request));
  for (; index >= 0 && page.length < size; index -= 1) {
    const execution = machine.executions[index];
    if (execution === undefined || isExpired(execution, now)) continue;
    if (status !== undefined && execution.status !== status) continue;
    if (redrive !== undefined && execution.redriveCount > 0 !== (redrive === 'REDRIVEN')) continue;
    page.push(execution);
  }
  const last = page.at(-1);
  return compact({
    executions: page.map(summaryOf),
    nextToken: index >= 0 && last !== undefined ? pageToken(last.order) : undefined,
  });
}

/** The newest execution older than the one a page ended with; the list is in order of start. */
function startIndex(executions: readonly Execution[], before: number | undefined): number {
  if (before === undefined) return executions.length - 1;
  let low = 0;
  let high = executions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((executions[middle]?.order ?? 0) < before) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function optionalChoice(request: JsonObject, key: string, choices: ReadonlySet<string>): string | undefined {
  const value = optionalString(request, key);
  if (value !== undefined && !choices.has(value)) {
    throw validationError(`'${key}' must be one of ${[...choices].join(', ')}.`);
  }
  return value;
}
