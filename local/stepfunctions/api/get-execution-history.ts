import type { JsonObject } from '../../../lambdas/core/json.ts';
import { toApiEvent } from '../history.ts';
import {
  type ActionDeps,
  compact,
  optionalBoolean,
  pageSize,
  pageToken,
  readPageToken,
  requireExecution,
} from './action.ts';

/** An execution's events, oldest first unless `reverseOrder`. */
export function getExecutionHistory(deps: ActionDeps, request: JsonObject): JsonObject {
  const { history } = requireExecution(deps, request);
  const includeData = optionalBoolean(request, 'includeExecutionData', true);
  const reverse = optionalBoolean(request, 'reverseOrder', false);
  const size = pageSize(request);
  // The token is the id of the page's first event, which events that are added later don't move.
  const from = (readPageToken(request) ?? (reverse ? history.length : 1)) - 1;
  const page = reverse
    ? history.slice(Math.max(0, from - size + 1), from + 1).reverse()
    : history.slice(from, from + size);
  const last = page.at(-1)?.id;
  const next = last === undefined ? undefined : reverse ? last - 1 : last + 1;
  const more = next !== undefined && next >= 1 && next <= history.length;
  return compact({
    events: page.map((event) => toApiEvent(event, includeData)),
    nextToken: more ? pageToken(next) : undefined,
  });
}
