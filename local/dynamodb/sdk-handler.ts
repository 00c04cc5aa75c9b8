import type { DynamoDb } from './dynamodb.ts';

/** The part of the SDK's HTTP request that is read here. */
interface SdkRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface SdkResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

function textOf(body: unknown): string {
  if (typeof body === 'string') {
    return body;
  }
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : '';
}

/** A `requestHandler` for an AWS SDK client that calls the embedded DynamoDB without a socket. */
export function inProcessRequestHandler(dynamoDb: Pick<DynamoDb, 'handle'>) {
  return {
    async handle(request: SdkRequest): Promise<{ response: SdkResponse }> {
      const { status, headers, body } = await dynamoDb.handle({
        target: request.headers['x-amz-target'] ?? '',
        body: textOf(request.body),
      });
      return { response: { statusCode: status, headers: { ...headers }, body: Buffer.from(body) } };
    },
  };
}
