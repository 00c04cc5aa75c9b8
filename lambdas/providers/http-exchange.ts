import type { Clock } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { EffectCall } from '../core/provider.ts';
import { CallFailed } from './call-failed.ts';
import { urlBelow } from './endpoint.ts';
import { BodyTooLarge, readBody } from './http-body.ts';
import { headerKey, headerText } from './http-headers.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { transportFailure } from './transport.ts';

declare global {
  interface JSON {
    /** Puts digits into JSON as they are. In Node since 21; not yet in TypeScript's library. */
    rawJSON(text: string): unknown;
  }
}

/** What came back, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly retryAfterSeconds: number | undefined;
  readonly body:
    | { readonly kind: 'json'; readonly value: unknown }
    | { readonly kind: 'empty' }
    | { readonly kind: 'unreadable'; readonly why: 'too large' | 'cut off' | 'not JSON' };
}

export interface HttpRequestParts {
  readonly method: string;
  /** May throw: then nothing is sent. */
  readonly path: () => string;
  /** May throw: then nothing is sent. @default no body */
  readonly body?: () => unknown;
  /** The header that the idempotency key goes into. @default it is not sent */
  readonly keyHeader?: string | undefined;
}

export interface HttpExchangeOptions {
  readonly name: string;
  readonly baseUrl: URL;
  readonly maxResponseBytes: number;
  /** Gives the `authorization` header. */
  readonly authorization: (() => Promise<string>) | undefined;
  readonly clock: Clock;
}

/**
 * One request and its answer.
 * @param what names provider and operation in messages
 * @throws CallFailed when no answer came
 */
export type HttpExchange = (
  call: Omit<EffectCall<unknown>, 'request'>,
  what: string,
  parts: HttpRequestParts,
) => Promise<HttpAnswer>;

export function httpExchange(options: HttpExchangeOptions): HttpExchange {
  return async (call, what, parts) => {
    const authorization = await authorize(options, what);
    const { url, init } = prepare(options.baseUrl, call, what, parts, authorization);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      throw new CallFailed(transportFailure(error, what, call.signal), error);
    }
    return {
      status: response.status,
      headers: response.headers,
      retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after'), options.clock.now()),
      body: await bodyOf(response, options.maxResponseBytes),
    };
  };
}

async function authorize({ authorization }: HttpExchangeOptions, what: string): Promise<string | undefined> {
  try {
    return await authorization?.();
  } catch (error) {
    const configured = error instanceof ConfigurationError;
    throw new CallFailed(
      {
        done: 'no',
        kind: configured ? 'terminal' : 'retryable',
        code: configured ? 'PROVIDER_NOT_CONFIGURED' : 'PROVIDER_SECRET_UNAVAILABLE',
        message: `${what}: the provider's secret can't be read`,
      },
      error,
    );
  }
}

/** Everything that can fail before a byte is sent. What is thrown here may quote content, so its text is not kept. */
function prepare(
  baseUrl: URL,
  call: Omit<EffectCall<unknown>, 'request'>,
  what: string,
  parts: HttpRequestParts,
  authorization: string | undefined,
): { readonly url: URL; readonly init: RequestInit } {
  const invalid = (message: string) =>
    new CallFailed({
      done: 'no',
      kind: 'terminal',
      code: 'PROVIDER_REQUEST_INVALID',
      message: `${what}: ${message}`,
    });
  let url: URL | undefined;
  try {
    url = urlBelow(baseUrl, parts.path());
  } catch {
    throw invalid('the path could not be made of the request');
  }
  if (url === undefined) throw invalid("the path leaves the provider's URL");
  let body: string | undefined;
  try {
    body = parts.body === undefined ? undefined : toJson(parts.body());
  } catch {
    throw invalid('the request can not be sent as JSON');
  }
  const headers = new Headers({ accept: 'application/json', connection: 'close' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (parts.keyHeader !== undefined) headers.set(parts.keyHeader, headerKey(call.key));
  if (call.traceparent !== undefined) headers.set('traceparent', headerText(call.traceparent));
  if (call.correlationId !== undefined) headers.set('x-correlation-id', headerText(call.correlationId));
  if (authorization !== undefined) {
    try {
      headers.set('authorization', authorization);
    } catch {
      throw invalid('the secret has characters that a header cannot carry');
    }
  }
  const base = { method: parts.method, headers, redirect: 'manual', signal: call.signal } as const;
  return { url, init: body === undefined ? base : { ...base, body } };
}

/** JSON with whole numbers of any size. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? JSON.rawJSON(String(inner)) : inner,
  );

async function bodyOf(response: Response, maxBytes: number): Promise<HttpAnswer['body']> {
  let text: string;
  try {
    text = await readBody(response, maxBytes);
  } catch (error) {
    return { kind: 'unreadable', why: error instanceof BodyTooLarge ? 'too large' : 'cut off' };
  }
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'unreadable', why: 'not JSON' };
  }
}
