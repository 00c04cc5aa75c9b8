import type { Message } from '@aws-sdk/client-bedrock-runtime';
import * as v from 'valibot';
import type { ClientSettings } from '../aws/clients.ts';
import {
  type CallFailure,
  defineProvider,
  type Operation,
  type ProviderContext,
  type ProviderDefinition,
} from '../core/provider.ts';
import { CallFailed, classifyCallFailed } from './call-failed.ts';
import { loadedOnce } from './loaded-once.ts';
import { sdkClientConfig } from './sdk-client.ts';
import { sdkFailure } from './sdk-failure.ts';

const RETRYABLE: ReadonlySet<string> = new Set([
  'ModelTimeoutException',
  'ModelNotReadyException',
  'ModelErrorException',
  'ServiceUnavailableException',
  'ServiceQuotaExceededException',
  'InternalServerException',
]);

/**
 * HTTP/2. A kept session that died while the function was frozen would cost the whole time-out. No time-outs here: the
 * call's signal is the one.
 */
const ONE_REQUEST_A_SESSION = { disableConcurrentStreams: true };

/** A question as a plan asks it. */
const questionSchema = v.object({
  modelId: v.pipe(v.string(), v.nonEmpty()),
  system: v.exactOptional(v.string()),
  messages: v.pipe(
    v.array(v.object({ role: v.picklist(['user', 'assistant']), text: v.pipe(v.string(), v.nonEmpty()) })),
    v.minLength(1),
  ),
  maxTokens: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  temperature: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
});

type Question = v.InferOutput<typeof questionSchema>;

/** Options of {@link bedrockConverseProvider}. */
export interface BedrockConverseProviderOptions {
  /** `[A-Za-z][A-Za-z0-9]{0,59}` */
  readonly name: string;
  /** How long an answer is waited for. @default the function's time-out, less what recording takes */
  readonly timeoutSeconds?: number;
  /** Region, endpoint, credentials, request handler. @default the function's environment, `AWS_ENDPOINT_URL_BEDROCK_RUNTIME` included */
  readonly client?: ClientSettings;
}

/**
 * A provider that asks a model on Amazon Bedrock: operation `converse`, reference the request id, response
 * `{ text, stopReason, usage: { inputTokens, outputTokens } }`.
 *
 * Harmless: asking again costs money and nothing else, so that no call is ever in doubt.
 */
export function bedrockConverseProvider(options: BedrockConverseProviderOptions): ProviderDefinition {
  return defineProvider({
    name: options.name,
    operations: (context) => ({ converse: converseOperation(options, context) }),
  });
}

function converseOperation(
  options: BedrockConverseProviderOptions,
  { env, clock }: ProviderContext,
): Operation<Question> {
  const { name, timeoutSeconds } = options;
  const config = sdkClientConfig(env, 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', {
    requestHandler: ONE_REQUEST_A_SESSION,
    ...options.client,
  });
  // A provider's module holds its own client, since it ends up in its own function.
  const loaded = loadedOnce(async () => {
    const { BedrockRuntimeClient, ConverseCommand } = await import('./bedrock-client.ts');
    return { client: new BedrockRuntimeClient(config), ConverseCommand };
  });
  return {
    schema: questionSchema,
    idempotent: false,
    harmless: true,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    classify: (error) => repeatable(classifyCallFailed(error)),
    async execute({ request, signal }) {
      const what = `${name} converse`;
      const { client, ConverseCommand } = await loaded();
      const { maxTokens, temperature } = request;
      const command = new ConverseCommand({
        modelId: request.modelId,
        messages: request.messages.map(({ role, text }) => ({ role, content: [{ text }] })),
        ...(request.system === undefined ? {} : { system: [{ text: request.system }] }),
        inferenceConfig: { maxTokens, temperature },
      });
      try {
        const { output, stopReason, usage, $metadata } = await client.send(command, {
          abortSignal: signal,
        });
        const { inputTokens, outputTokens } = usage ?? {};
        const response = {
          text: textOf(output?.message, what),
          stopReason,
          usage: { inputTokens, outputTokens },
        };
        const reference = $metadata.requestId;
        return reference === undefined ? { response } : { reference, response };
      } catch (error) {
        if (error instanceof CallFailed) throw error;
        throw new CallFailed(
          sdkFailure(error, { what, signal, now: clock.now(), retryable: RETRYABLE }),
          error,
        );
      }
    },
  };
}

function textOf(message: Message | undefined, what: string): string {
  if (message?.content === undefined) {
    const text = `${what}: an answer without a message`;
    throw new CallFailed({ done: 'unknown', code: 'PROVIDER_RESPONSE_INVALID', message: text });
  }
  return message.content.flatMap(({ text }) => text ?? []).join('');
}

/** Whether a question was answered and its answer lost does not matter: it is asked again. */
function repeatable(failure: CallFailure): CallFailure {
  return failure.done === 'no' ? failure : { ...failure, done: 'no', kind: 'retryable' };
}
