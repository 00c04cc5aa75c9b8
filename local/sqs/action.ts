import type { Clock } from '../../lambdas/core/clock.ts';
import type { JsonObject } from '../../lambdas/core/json.ts';
import type { SqsStore } from './store.ts';

export interface ActionContext {
  readonly store: SqsStore;
  readonly clock: Clock;
  /** The address under which the caller reached the service, for queue URLs. */
  readonly baseUrl: string;
  readonly signal?: AbortSignal;
}

/** One API action: checks its input, asks the store, shapes the answer. */
export type Action = (context: ActionContext, input: JsonObject) => JsonObject | Promise<JsonObject>;
