import type { JsonObject } from '../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../edge/json.ts';
import { awsRefusal } from './aws-refusal.ts';
import { type ProviderServer, startProviderServer } from './provider-server.ts';
import { jsonObject } from './service-json.ts';

/** A message that was sent, as it was asked for. */
export interface SentEmail {
  readonly messageId: string;
  readonly request: JsonObject;
}

export interface SesServer extends ProviderServer {
  /** Every message that was sent, in order. */
  readonly ledger: readonly SentEmail[];
}

/** Amazon SES v2: `POST /v2/email/outbound-emails`, signed, with a simple content. */
export async function startSesServer(options: { readonly port?: number } = {}): Promise<SesServer> {
  const ledger: SentEmail[] = [];
  const server = await startProviderServer(
    {
      refuse: awsRefusal,
      act({ method, path, headers, body }) {
        if (method !== 'POST' || path !== '/v2/email/outbound-emails') {
          return awsRefusal(404, 'NotFoundException');
        }
        if (!headers.authorization?.includes('/ses/aws4_request')) {
          return awsRefusal(403, 'MissingAuthenticationTokenException');
        }
        const request = jsonObject(body);
        if (request === undefined || !isSendable(request)) return awsRefusal(400, 'BadRequestException');
        const messageId = `email-${ledger.length + 1}`;
        ledger.push({ messageId, request });
        return { status: 200, body: { MessageId: messageId } };
      },
    },
    options,
  );
  return { ...server, ledger };
}

function isSendable({
  FromEmailAddress: from,
  Destination: destination,
  Content: content,
}: JsonObject): boolean {
  if (typeof from !== 'string' || !isJsonObject(destination) || !isJsonObject(content)) return false;
  const { ToAddresses: to } = destination;
  const { Simple: simple } = content;
  if (!isJsonList(to) || to.length === 0 || !isJsonObject(simple)) return false;
  return isJsonObject(simple.Subject) && isJsonObject(simple.Body);
}
