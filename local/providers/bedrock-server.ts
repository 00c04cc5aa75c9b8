import type { JsonObject } from '../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../edge/json.ts';
import { awsRefusal } from './aws-refusal.ts';
import { type ProviderServer, startProviderServer } from './provider-server.ts';
import { jsonObject } from './service-json.ts';

/** A question that the model was asked. */
export interface Question {
  readonly modelId: string;
  readonly request: JsonObject;
}

export interface BedrockServer extends ProviderServer {
  /** Every question that was answered, in order. */
  readonly ledger: readonly Question[];
}

/**
 * Amazon Bedrock's Converse: `POST /model/<id>/converse`, signed. Over HTTP/2 without TLS, as the SDK's client speaks
 * HTTP/2 alone. The model repeats the last message of the user.
 */
export async function startBedrockServer(options: { readonly port?: number } = {}): Promise<BedrockServer> {
  const ledger: Question[] = [];
  const server = await startProviderServer(
    {
      refuse: awsRefusal,
      act({ method, path, headers, body }) {
        const modelId = decodeURIComponent(/^\/model\/([^/]+)\/converse$/.exec(path)?.[1] ?? '');
        if (method !== 'POST' || modelId === '') return awsRefusal(404, 'ResourceNotFoundException');
        if (!headers.authorization?.includes('/bedrock/aws4_request')) {
          return awsRefusal(403, 'AccessDeniedException');
        }
        const request = jsonObject(body);
        const prompt = request === undefined ? undefined : lastText(request);
        if (request === undefined || prompt === undefined) return awsRefusal(400, 'ValidationException');
        ledger.push({ modelId, request });
        const text = `You said: ${prompt}`;
        const inputTokens = tokens(prompt);
        const outputTokens = tokens(text);
        return {
          status: 200,
          headers: { 'x-amzn-requestid': `request-${ledger.length}` },
          body: {
            output: { message: { role: 'assistant', content: [{ text }] } },
            stopReason: 'end_turn',
            usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
            metrics: { latencyMs: 1 },
          },
        };
      },
    },
    { ...options, http2: true },
  );
  return { ...server, ledger };
}

function lastText({ messages }: JsonObject): string | undefined {
  const last = isJsonList(messages) ? messages.at(-1) : undefined;
  if (!isJsonObject(last) || last.role !== 'user' || !isJsonList(last.content)) return undefined;
  const texts = last.content.flatMap((part) =>
    isJsonObject(part) && typeof part.text === 'string' ? part.text : [],
  );
  return texts.length === 0 ? undefined : texts.join('');
}

const tokens = (text: string): number => text.split(/\s+/).length;
