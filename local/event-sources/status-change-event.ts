import type { NewId } from '../../lambdas/core/clock.ts';
import { STATUS_CHANGE_RULE } from '../../lambdas/reconciler/handler.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../edge/client-config.ts';
import type { StatusChange } from '../stepfunctions/status-change.ts';

/** EventBridge's event of a change of an execution's status; undefined for one that the reconciler's rule does not pass. */
export function statusChangeEvent(change: StatusChange, { newId, now }: { newId: NewId; now: number }) {
  if (!STATUS_CHANGE_RULE.statuses.some((status) => status === change.status)) return undefined;
  return {
    version: '0',
    id: newId(),
    'detail-type': STATUS_CHANGE_RULE.detailType,
    source: STATUS_CHANGE_RULE.source,
    account: LOCAL_ACCOUNT,
    time: new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
    region: LOCAL_REGION,
    resources: [change.executionArn],
    detail: change,
  };
}
