import type { Clock } from '../../lambdas/core/clock.ts';
import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';
import { bodyText, type Dispatch, type EdgeRequest, type EdgeResponse, jsonResponse } from '../edge/http.ts';
import { isJsonObject } from '../edge/json.ts';
import type { EventSourceMapping } from './event-source-mapping.ts';
import { functionArn, type LambdaInvoker } from './lambda-invoker.ts';

const MAPPINGS_PATH = '/2015-03-31/event-source-mappings';

export interface LambdaApiOptions {
  readonly clock: Clock;
  /** Asked at every call, so that mappings may come and go. */
  readonly mappings: () => readonly EventSourceMapping[];
  readonly invoker: LambdaInvoker;
}

class LambdaApiError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * The part of Lambda's REST API that the local runtime needs: Get-, List- and UpdateEventSourceMapping (to
 * pause, resume and limit a source) and Invoke.
 */
export function createLambdaDispatch({ clock, mappings, invoker }: LambdaApiOptions): Dispatch {
  const changedAt = new Map<string, number>();

  function describe(mapping: EventSourceMapping, state?: string) {
    const settings = mapping.settings();
    return {
      UUID: mapping.uuid,
      EventSourceArn: mapping.eventSourceArn,
      FunctionArn: functionArn(mapping.functionName),
      State: state ?? (settings.enabled ? 'Enabled' : 'Disabled'),
      StateTransitionReason: 'USER_INITIATED',
      BatchSize: settings.batchSize,
      MaximumBatchingWindowInSeconds: settings.batchingWindowSeconds,
      FunctionResponseTypes: settings.reportBatchItemFailures ? ['ReportBatchItemFailures'] : [],
      LastModified: (changedAt.get(mapping.uuid) ?? clock.now()) / 1_000,
      ...(settings.maxConcurrency === undefined
        ? {}
        : { ScalingConfig: { MaximumConcurrency: settings.maxConcurrency } }),
    };
  }

  function find(path: string): EventSourceMapping {
    const uuid = decodeURIComponent(path.slice(MAPPINGS_PATH.length + 1));
    const found = mappings().find((mapping) => mapping.uuid === uuid);
    if (found === undefined) {
      throw new LambdaApiError(
        'ResourceNotFoundException',
        404,
        'The resource you requested does not exist.',
      );
    }
    return found;
  }

  function update(mapping: EventSourceMapping, change: JsonValue) {
    const { Enabled, ScalingConfig } = fields(change);
    if (ScalingConfig !== undefined) {
      const { MaximumConcurrency } = fields(ScalingConfig);
      if (typeof MaximumConcurrency !== 'number') {
        throw invalid('ScalingConfig.MaximumConcurrency must be a number from 2 to 1000');
      }
      try {
        mapping.setMaxConcurrency(MaximumConcurrency);
      } catch (error) {
        throw error instanceof RangeError ? invalid(error.message) : error;
      }
    }
    let state: string | undefined;
    if (typeof Enabled === 'boolean' && Enabled !== mapping.settings().enabled) {
      mapping.setEnabled(Enabled);
      state = Enabled ? 'Enabling' : 'Disabling';
    }
    changedAt.set(mapping.uuid, clock.now());
    return describe(mapping, state);
  }

  function list(query: URLSearchParams) {
    const source = query.get('EventSourceArn');
    const name = query.get('FunctionName')?.split(':').at(-1);
    return mappings()
      .filter(({ eventSourceArn }) => source === null || eventSourceArn === source)
      .filter(({ functionName }) => name === undefined || functionName === name)
      .map((mapping) => describe(mapping));
  }

  async function invoke(request: EdgeRequest, name: string): Promise<EdgeResponse> {
    if (!invoker.has(name)) {
      throw new LambdaApiError('ResourceNotFoundException', 404, `Function not found: ${functionArn(name)}`);
    }
    const event: JsonValue = JSON.parse(bodyText(request) || '{}');
    if (request.headers['x-amz-invocation-type'] === 'Event') {
      invoker.invokeAsync(name, event);
      return { status: 202, headers: {}, body: '' };
    }
    const outcome = await invoker.invoke(name, event);
    if (outcome.status === 'throttled') {
      throw new LambdaApiError('TooManyRequestsException', 429, 'Rate Exceeded.');
    }
    const headers = { 'content-type': 'application/json', 'x-amz-executed-version': '$LATEST' };
    return outcome.status === 'succeeded'
      ? jsonResponse(200, outcome.payload, headers)
      : jsonResponse(200, outcome.error, { ...headers, 'x-amz-function-error': 'Unhandled' });
  }

  async function route(request: EdgeRequest): Promise<EdgeResponse> {
    const { method, query } = request;
    const path = request.path.replace(/\/$/, '');
    const invocation = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(path);
    if (method === 'POST' && invocation !== null) {
      const name =
        decodeURIComponent(invocation[1] ?? '')
          .split(':function:')
          .at(-1) ?? '';
      return invoke(request, name.split(':')[0] ?? '');
    }
    if (path === MAPPINGS_PATH && method === 'GET') return json({ EventSourceMappings: list(query) });
    if (path.startsWith(`${MAPPINGS_PATH}/`)) {
      if (method === 'GET') return json(describe(find(path)));
      if (method === 'PUT') return json(update(find(path), JSON.parse(bodyText(request) || '{}')), 202);
    }
    throw new LambdaApiError('UnknownOperationException', 404, `the local Lambda has no ${method} ${path}`);
  }

  return async (request) => {
    try {
      return await route(request);
    } catch (error) {
      if (error instanceof SyntaxError) return failure(invalid('the body is not valid JSON'));
      if (error instanceof LambdaApiError) return failure(error);
      throw error;
    }
  };
}

function fields(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw invalid('expected an object');
  return value;
}

function invalid(message: string): LambdaApiError {
  return new LambdaApiError('InvalidParameterValueException', 400, message);
}

function json(value: object, status = 200): EdgeResponse {
  return jsonResponse(status, value, { 'content-type': 'application/json' });
}

function failure({ code, status, message }: LambdaApiError): EdgeResponse {
  return jsonResponse(
    status,
    { Type: 'User', Message: message, message },
    { 'content-type': 'application/json', 'x-amzn-errortype': code },
  );
}
