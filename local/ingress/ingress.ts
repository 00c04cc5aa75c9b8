import { SendMessageCommand, type SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import type { Clock } from '../../lambdas/core/clock.ts';
import type { JsonObject } from '../../lambdas/core/json.ts';
import { bodyText, type Dispatch, type EdgeRequest, type EdgeResponse } from '../edge/http.ts';
import { matchesSchema } from './json-schema.ts';
import { type GatewayAnswer, type IngressRoute, type IngressTemplate, readIngress } from './template.ts';
import { renderVelocity, type TemplateScope } from './velocity.ts';

export interface IngressOptions {
  /** The CloudFormation template that holds the API: its own model and mapping are applied. */
  readonly template: JsonObject;
  readonly clock: Clock;
  readonly sqs: SQSClient;
  readonly queueUrl: string;
}

/** API Gateway takes no larger request. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/**
 * The ingress, locally: what API Gateway does with a request by the template, from the content type over the model
 * to the mapping of SQS's answer. Who may call is not checked.
 */
export function createIngress(options: IngressOptions): Dispatch {
  const ingress = readIngress(options.template);
  return async (request) => {
    const route = ingress.routes.find(({ path }) => path === request.path);
    if (route === undefined || request.method !== 'POST') {
      return { status: 403, headers: JSON_TYPE, body: '{"message":"Missing Authentication Token"}' };
    }
    return handle(route, request, ingress, options);
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function handle(
  route: IngressRoute,
  request: EdgeRequest,
  ingress: IngressTemplate,
  options: IngressOptions,
): Promise<EdgeResponse> {
  if (request.body.byteLength > MAX_REQUEST_BYTES) return answer(ingress, 'REQUEST_TOO_LARGE');
  const body = bodyText(request);
  if (route.model !== undefined && !isOfModel(body, route.model)) return answer(ingress, 'BAD_REQUEST_BODY');
  const [contentType = ''] = (request.headers['content-type'] ?? 'application/json').split(';');
  const template = route.requestTemplates[contentType.trim().toLowerCase()];
  if (template === undefined) return answer(ingress, 'UNSUPPORTED_MEDIA_TYPE');

  const scope = scopeOf(request, body, options.clock.now());
  const asked = renderVelocity(template, scope);
  const sent = await send(new URLSearchParams(asked.text), options);
  const mapped =
    route.responses.find(({ pattern }) => pattern?.test(String(sent.status))) ??
    route.responses.find(({ pattern }) => pattern === undefined);
  if (mapped === undefined) throw new Error(`the template maps no answer of SQS with status ${sent.status}`);
  const rendered = renderVelocity(mapped.template, {
    ...scope,
    body: sent.body,
    context: { ...scope.context, ...asked.overrides },
  });
  const { 'responseOverride.status': status = mapped.status } = rendered.overrides;
  return {
    status: Number(status),
    headers: { ...JSON_TYPE, ...mapped.headers },
    body: rendered.text,
  };
}

function isOfModel(body: string, model: JsonObject): boolean {
  try {
    return matchesSchema(JSON.parse(body), model);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function answer({ answers }: IngressTemplate, type: string): EdgeResponse {
  const found: GatewayAnswer | undefined = answers[type];
  if (found === undefined) throw new Error(`the template has no answer for ${type}`);
  return { status: found.status, headers: { ...JSON_TYPE, ...found.headers }, body: found.body };
}

/** Header names as sent and in lower case: HTTP/2 sends them so. */
function scopeOf(request: EdgeRequest, body: string, now: number): TemplateScope {
  return {
    body,
    params: { ...request.headers, ...Object.fromEntries(request.query) },
    context: { requestTimeEpoch: String(now) },
  };
}

/** Makes the call that the query describes, and answers as API Gateway sees it. */
async function send(
  query: URLSearchParams,
  { sqs, queueUrl }: IngressOptions,
): Promise<{ readonly status: number; readonly body: string }> {
  const attributes: Record<string, { DataType: string; StringValue: string }> = {};
  for (let index = 1; query.has(`MessageAttribute.${index}.Name`); index += 1) {
    attributes[query.get(`MessageAttribute.${index}.Name`) ?? ''] = {
      DataType: query.get(`MessageAttribute.${index}.Value.DataType`) ?? '',
      StringValue: query.get(`MessageAttribute.${index}.Value.StringValue`) ?? '',
    };
  }
  const group = query.get('MessageGroupId');
  const body = query.get('MessageBody');
  if (body === null) {
    const Message = 'The request must contain the parameter MessageBody.';
    return { status: 400, body: JSON.stringify({ Error: { Code: 'MissingParameter', Message } }) };
  }
  try {
    const { MessageId } = await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageAttributes: attributes,
        ...(group === null ? {} : { MessageGroupId: group }),
      }),
    );
    const result = { SendMessageResponse: { SendMessageResult: { MessageId } } };
    return { status: 200, body: JSON.stringify(result) };
  } catch (error) {
    if (!(error instanceof SQSServiceException)) return { status: 500, body: '' };
    const { name: Code, message: Message } = error;
    return {
      status: error.$metadata.httpStatusCode ?? 500,
      body: JSON.stringify({ Error: { Code, Message } }),
    };
  }
}
