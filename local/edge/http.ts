/** A request as an embedded service sees it, whether it came through a socket or in process. */
export interface EdgeRequest {
  readonly method: string;
  /** Decoded neither nor normalised; without the query string. */
  readonly path: string;
  /** Decoded query parameters, in the order sent; a parameter without a value has `''`. */
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the caller went away; a long poll ends then. */
  readonly signal?: AbortSignal;
}

/** What an embedded service answers. */
export interface EdgeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

/** One embedded service, or several behind a router. */
export type Dispatch = (request: EdgeRequest) => Promise<EdgeResponse>;

const decoder = new TextDecoder();

/** The request's body as text. */
export function bodyText(request: EdgeRequest): string {
  return decoder.decode(request.body);
}

/** An answer in an AWS JSON protocol. */
export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): EdgeResponse {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0', ...headers },
    body: JSON.stringify(value),
  };
}

/** An answer in the REST-XML protocol. */
export function xmlResponse(
  status: number,
  xml: string,
  headers: Readonly<Record<string, string>> = {},
): EdgeResponse {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`,
  };
}
