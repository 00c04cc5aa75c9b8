import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { ClientSettings } from '../aws/clients.ts';
import {
  defineProvider,
  type Operation,
  type ProviderContext,
  type ProviderDefinition,
} from '../core/provider.ts';
import { CallFailed, classifyCallFailed } from './call-failed.ts';
import { loadedOnce } from './loaded-once.ts';
import { sdkClientConfig } from './sdk-client.ts';
import { sdkFailure } from './sdk-failure.ts';

/** Recipients of all kinds that SES takes in one message. */
const MAX_RECIPIENTS = 50;
const RETRYABLE: ReadonlySet<string> = new Set(['LimitExceededException']);
/**
 * A kept connection that was closed while the function was frozen would leave an e-mail in doubt that was never read.
 * No time-outs here: the call's signal is the one.
 */
const ONE_REQUEST_A_CONNECTION = {
  socketTimeout: 0,
  httpAgent: { keepAlive: false },
  httpsAgent: { keepAlive: false },
};

const addresses = v.pipe(v.array(v.pipe(v.string(), v.nonEmpty())), v.minLength(1));

/** An e-mail as a plan asks for it. */
const emailSchema = v.pipe(
  v.object({
    from: v.pipe(v.string(), v.nonEmpty()),
    to: addresses,
    cc: v.exactOptional(addresses),
    bcc: v.exactOptional(addresses),
    replyTo: v.exactOptional(addresses),
    subject: v.string(),
    text: v.exactOptional(v.string()),
    html: v.exactOptional(v.string()),
  }),
  v.check(({ text, html }) => text !== undefined || html !== undefined, 'text or html is required'),
  v.check(
    ({ to, cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= MAX_RECIPIENTS,
    `at most ${MAX_RECIPIENTS} recipients`,
  ),
);

type Email = v.InferOutput<typeof emailSchema>;

/** Options of {@link sesEmailProvider}. */
export interface SesEmailProviderOptions {
  /** `[A-Za-z][A-Za-z0-9]{0,59}` */
  readonly name: string;
  /** Where events about the messages go. @default none */
  readonly configurationSet?: string;
  /** How long an answer is waited for. @default the function's time-out, less what recording takes */
  readonly timeoutSeconds?: number;
  /** Region, endpoint, credentials, request handler. @default the function's environment, `AWS_ENDPOINT_URL_SESV2` included */
  readonly client?: ClientSettings;
}

/**
 * A provider that sends e-mail by Amazon SES (v2): operation `send`, reference the message id.
 *
 * SES knows neither idempotency keys nor a way to ask by one, so that a call without a clear answer is in doubt. The
 * message carries the tag `effect`, the SHA-256 of the effect's key: with a configuration set, SES's own events say
 * what became of it.
 */
export function sesEmailProvider(options: SesEmailProviderOptions): ProviderDefinition {
  return defineProvider({
    name: options.name,
    operations: (context) => ({ send: sendOperation(options, context) }),
  });
}

function sendOperation(options: SesEmailProviderOptions, { env, clock }: ProviderContext): Operation<Email> {
  const { name, configurationSet, timeoutSeconds } = options;
  const config = sdkClientConfig(env, 'AWS_ENDPOINT_URL_SESV2', {
    requestHandler: ONE_REQUEST_A_CONNECTION,
    ...options.client,
  });
  // A provider's module holds its own client, since it ends up in its own function.
  const loaded = loadedOnce(async () => {
    const { SESv2Client, SendEmailCommand } = await import('./ses-client.ts');
    return { client: new SESv2Client(config), SendEmailCommand };
  });
  return {
    schema: emailSchema,
    idempotent: false,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    classify: classifyCallFailed,
    async execute({ request, key, signal }) {
      const { client, SendEmailCommand } = await loaded();
      const command = new SendEmailCommand({
        FromEmailAddress: request.from,
        Destination: {
          ToAddresses: request.to,
          CcAddresses: request.cc,
          BccAddresses: request.bcc,
        },
        ReplyToAddresses: request.replyTo,
        Content: {
          Simple: {
            Subject: utf8(request.subject),
            Body: {
              ...(request.text === undefined ? {} : { Text: utf8(request.text) }),
              ...(request.html === undefined ? {} : { Html: utf8(request.html) }),
            },
          },
        },
        EmailTags: [{ Name: 'effect', Value: createHash('sha256').update(key).digest('hex') }],
        ConfigurationSetName: configurationSet,
      });
      try {
        const { MessageId: reference } = await client.send(command, { abortSignal: signal });
        return reference === undefined ? {} : { reference };
      } catch (error) {
        const what = `${name} send`;
        throw new CallFailed(
          sdkFailure(error, { what, signal, now: clock.now(), retryable: RETRYABLE }),
          error,
        );
      }
    },
  };
}

const utf8 = (text: string) => ({ Data: text, Charset: 'UTF-8' });
