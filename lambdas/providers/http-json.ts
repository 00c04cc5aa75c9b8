import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  type AnyOperation,
  type CallFailure,
  defineProvider,
  type EffectAnswer,
  type EffectCall,
  type LookupAnswer,
  type Operation,
  type ProviderContext,
  type ProviderDefinition,
} from '../core/provider.ts';
import { CallFailed, classifyCallFailed } from './call-failed.ts';
import { endpointOf } from './endpoint.ts';
import { type HttpAnswer, type HttpExchange, httpExchange } from './http-exchange.ts';
import { statusFailure } from './http-status.ts';

/** How one operation is carried out over HTTP. */
export interface HttpJsonOperation<R> {
  /** Validates and types the request: any Standard Schema. */
  readonly schema: StandardSchemaV1<unknown, R>;
  /** @default 'POST' */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET';
  /** Below the provider's URL, from a slash on. Parts that come from the request go through `encodeURIComponent`. */
  readonly path: string | ((request: R) => string);
  /** What is sent as JSON. @default the request */
  readonly body?: (request: R) => unknown;
  /** The provider carries out an idempotency key once, and answers a repetition as it answered the first time. */
  readonly idempotent: boolean;
  /** The header that the key goes into; only idempotent operations send it. @default 'Idempotency-Key' */
  readonly idempotencyHeader?: string;
  /** How long the provider remembers a key. @default for good */
  readonly idempotencyWindowSeconds?: number;
  /** Nothing happens at the provider: a repetition costs money and no more. @default false */
  readonly harmless?: boolean;
  /** How long an answer is waited for. @default the function's time-out, less what recording takes */
  readonly timeoutSeconds?: number;
  /** The field of the answer that holds the provider's own name of what happened. @default none */
  readonly reference?: string;
  /** Validates the answer. One that does not fit counts as none: what happened is unknown. @default any JSON */
  readonly response?: StandardSchemaV1;
  /** Reads a refusal better than its status does, from a code in its body. @default by the status */
  readonly refusal?: (answer: HttpAnswer) => CallFailure | undefined;
  /** Asks what has become of a call. Asked instead of calling again when a call may have been made. */
  readonly lookup?: {
    /** Below the provider's URL; read by GET. */
    readonly path: (call: Pick<EffectCall<R>, 'request' | 'key'>) => string;
    /** `notDone` only where it also says that no call is under way any more. */
    readonly read: (answer: HttpAnswer) => LookupAnswer;
  };
}

type HttpJsonOperations<S> = { readonly [K in keyof S]: HttpJsonOperation<S[K]> };

/** Options of {@link httpJsonProvider}. */
export interface HttpJsonProviderOptions<S> {
  /** `[A-Za-z][A-Za-z0-9]{0,59}` */
  readonly name: string;
  /** The environment variable that holds the provider's URL: https, or http on loopback. @default <NAME>_URL */
  readonly urlVariable?: string;
  /** The `authorization` header, made of the function's secret; `bearer` for `Bearer <secret>`. @default none */
  readonly authorization?: 'bearer' | ((secret: string) => string);
  /** Largest answer in bytes, after decompression. @default 1 MiB */
  readonly maxResponseBytes?: number;
  /** By name, as plans ask for them. */
  readonly operations: HttpJsonOperations<S>;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;

/**
 * A provider that speaks JSON over HTTP.
 *
 * Every call is one request: no retries, no redirects, a connection of its own (a kept one that the provider has just
 * closed would leave a call in doubt that was never read). The effect's correlation id and `traceparent` travel as
 * headers.
 *
 * | answer | amounts to |
 * | --- | --- |
 * | 2xx with JSON, or without a body | done |
 * | 408, 425, 429 | not done, retryable, no sooner than `Retry-After` |
 * | 409 to an idempotent operation | a call under the key is under way: asked again under the same key |
 * | 303 | unknown: carried out, its result is elsewhere |
 * | other 3xx | not done, terminal `HTTP_REDIRECT` |
 * | other 4xx | not done, terminal `HTTP_<status>` |
 * | no connection, or none with trusted TLS | not done, retryable |
 * | 5xx, connection cut, time-out, 2xx with anything but JSON | unknown |
 *
 * @throws ConfigurationError at the function's init when the URL is missing or not allowed
 */
export function httpJsonProvider<S extends Record<string, unknown>>(
  options: HttpJsonProviderOptions<S>,
): ProviderDefinition {
  const { name, urlVariable = `${name.toUpperCase()}_URL` } = options;
  return defineProvider({
    name,
    operations: (context) => {
      const exchange = httpExchange({
        name,
        baseUrl: endpointOf(context.env, urlVariable),
        maxResponseBytes: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
        authorization: authorizationOf(options.authorization, context),
        clock: context.clock,
      });
      const operations: Record<string, AnyOperation> = {};
      for (const key in options.operations) {
        operations[key] = toOperation(options.operations[key], `${name} ${key}`, exchange);
      }
      return operations;
    },
  });
}

function authorizationOf(
  authorization: HttpJsonProviderOptions<unknown>['authorization'],
  context: ProviderContext,
): (() => Promise<string>) | undefined {
  if (authorization === undefined) return undefined;
  const format = authorization === 'bearer' ? (secret: string) => `Bearer ${secret}` : authorization;
  return async () => format((await context.secret()).trim());
}

function toOperation<R>(operation: HttpJsonOperation<R>, what: string, exchange: HttpExchange): Operation<R> {
  const { schema, idempotent, idempotencyWindowSeconds, harmless, timeoutSeconds, lookup } = operation;
  const { method = 'POST', path, body = (request: R): unknown => request } = operation;
  const keyHeader = idempotent ? (operation.idempotencyHeader ?? 'Idempotency-Key') : undefined;
  return {
    schema,
    idempotent,
    ...(idempotencyWindowSeconds === undefined ? {} : { idempotencyWindowSeconds }),
    ...(harmless === undefined ? {} : { harmless }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    classify: classifyCallFailed,
    async execute(call) {
      const answer = await exchange(call, what, {
        method,
        path: () => (typeof path === 'string' ? path : path(call.request)),
        keyHeader,
        ...(method === 'GET' ? {} : { body: () => body(call.request) }),
      });
      if (answer.status < 200 || answer.status > 299) {
        const { retryAfterSeconds } = answer;
        throw new CallFailed(
          operation.refusal?.(answer) ??
            statusFailure(answer.status, { what, idempotent, retryAfterSeconds }),
        );
      }
      return toAnswer(answer, operation, what);
    },
    ...(lookup === undefined
      ? {}
      : {
          lookup: async (call) => {
            const answer = await exchange(call, `${what} lookup`, {
              method: 'GET',
              path: () => lookup.path(call),
            });
            return lookup.read(answer);
          },
        }),
  };
}

async function toAnswer<R>(
  answer: HttpAnswer,
  { response: schema, reference: field }: HttpJsonOperation<R>,
  what: string,
): Promise<EffectAnswer> {
  if (answer.body.kind === 'unreadable') {
    throw new CallFailed({
      done: 'unknown',
      code: 'PROVIDER_RESPONSE_INVALID',
      message: `${what}: HTTP ${answer.status}, and a body that is ${answer.body.why}`,
    });
  }
  let response = answer.body.kind === 'json' ? answer.body.value : undefined;
  if (schema !== undefined) {
    const result = await schema['~standard'].validate(response);
    if (result.issues !== undefined) {
      throw new CallFailed({
        done: 'unknown',
        code: 'PROVIDER_RESPONSE_INVALID',
        message: `${what}: HTTP ${answer.status}, and a body that is not as the response's schema wants it`,
      });
    }
    response = result.value;
  }
  const reference = field === undefined ? undefined : referenceIn(response, field);
  return {
    ...(reference === undefined ? {} : { reference }),
    ...(response === undefined ? {} : { response }),
  };
}

function referenceIn(response: unknown, field: string): string | undefined {
  if (typeof response !== 'object' || response === null || !Object.hasOwn(response, field)) return undefined;
  const value = Object.entries(response).find(([name]) => name === field)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
