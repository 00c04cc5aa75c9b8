import { bodyText, type Dispatch } from './edge/http.ts';
import { describeCall } from './edge/service-call.ts';

const READS = new Set(['GetItem', 'BatchGetItem', 'Query']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** Names under which DynamoDB's own figures stand among the totals. */
export const READ_UNITS = 'dynamodb read units';
export const WRITE_UNITS = 'dynamodb write units';

/** Counts what a worker uses, at the services, whoever calls. */
export interface UsageMeter {
  /** For `startRuntime`'s `wrapServices`. */
  readonly wrapServices: (dispatch: Dispatch) => Dispatch;
  /** For `startRuntime`'s `onInvoke`. */
  readonly onInvoke: (functionName: string) => void;
  /** Counts from now on. */
  start(): void;
  stop(): void;
  /** `<service> <operation>` for calls, `lambda <function>` for invocations, and DynamoDB's units. */
  readonly totals: ReadonlyMap<string, number>;
}

/** Creates a meter at zero that does not count yet: to meter takes time of its own. */
export function createUsageMeter(): UsageMeter {
  const totals = new Map<string, number>();
  let counting = false;
  const add = (name: string, amount: number): void => {
    if (counting) totals.set(name, (totals.get(name) ?? 0) + amount);
  };
  return {
    totals,
    start: () => {
      counting = true;
    },
    stop: () => {
      counting = false;
    },
    onInvoke: (name) => add(`lambda ${name}`, 1),
    wrapServices: (dispatch) => async (request) => {
      if (!counting) return dispatch(request);
      const { service, operation } = describeCall(request);
      add(`${service} ${operation}`, 1);
      if (service !== 'dynamodb' || !(READS.has(operation) || WRITES.has(operation)))
        return dispatch(request);
      // DynamoDB says itself what a call used.
      const asked = { ...JSON.parse(bodyText(request)), ReturnConsumedCapacity: 'TOTAL' };
      const answer = await dispatch({ ...request, body: Buffer.from(JSON.stringify(asked)) });
      const text = typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body).toString();
      const { ConsumedCapacity } = JSON.parse(text);
      const kind = READS.has(operation) ? READ_UNITS : WRITE_UNITS;
      for (const used of [ConsumedCapacity ?? []].flat()) add(kind, used.CapacityUnits ?? 0);
      return answer;
    },
  };
}
