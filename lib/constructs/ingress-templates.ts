import { HEADER_PREFIX, RECEIVED_AT_ATTRIBUTE, WEBHOOK_ATTRIBUTE } from '../../lambdas/core/sources.ts';

/** A message attribute in SQS's query protocol. The value is a piece of template. */
const attribute = (index: number, name: string, value: string): string =>
  [
    `&MessageAttribute.${index}.Name=${encodeURIComponent(name)}`,
    `&MessageAttribute.${index}.Value.DataType=String`,
    `&MessageAttribute.${index}.Value.StringValue=${value}`,
  ].join('');

const SEND = 'Action=SendMessage&Version=2012-11-05&MessageBody=$util.urlEncode($input.body)';

/** `POST /messages`: the body as it is; the message group is the aggregate (FIFO) or the tenant (fair queues). */
export function messageTemplate(fifo: boolean): string {
  const group = fifo
    ? "&MessageGroupId=$util.urlEncode($input.path('$.aggregateId'))"
    : [
        "#set($tenant = $input.path('$.tenantId'))",
        '#if($tenant && $tenant != "")&MessageGroupId=$util.urlEncode($tenant)#end',
      ].join('');
  const trace = [
    "#set($trace = $input.params('traceparent'))",
    `#if($trace && $trace != "")${attribute(1, 'traceparent', '$util.urlEncode($trace)')}#end`,
  ].join('');
  return `${SEND}${group}${trace}`;
}

/**
 * `POST /webhooks/<source>`: the raw body, the source's name, when it came, and the headers that the source asked
 * for. A header that is missing travels as `-`, since SQS takes no empty value and attributes are numbered.
 */
export function webhookTemplate(source: string, headers: readonly string[]): string {
  const carried = headers.map((header, index) => {
    const lower = header.toLowerCase();
    const variable = `$header${index}`;
    return [
      `#set(${variable} = $input.params('${header}'))`,
      `#if(!${variable} || ${variable} == "")#set(${variable} = $input.params('${lower}'))#end`,
      `#if(!${variable} || ${variable} == "")#set(${variable} = "-")#end`,
      attribute(index + 3, `${HEADER_PREFIX}${lower}`, `$util.urlEncode(${variable})`),
    ].join('');
  });
  return [
    SEND,
    `&MessageGroupId=${encodeURIComponent(source)}`,
    attribute(1, WEBHOOK_ATTRIBUTE, encodeURIComponent(source)),
    attribute(2, RECEIVED_AT_ATTRIBUTE, '$context.requestTimeEpoch'),
    ...carried,
  ].join('');
}

const answer = (code: string, message: string): string => JSON.stringify({ code, message });

export const ANSWERS = {
  accepted: `{"messageId":"$input.path('$.SendMessageResponse.SendMessageResult.MessageId')"}`,
  /** SQS says "Message must be shorter than … bytes": the only refusal that is about size. */
  refused: [
    '#if($input.body.contains("must be shorter than"))#set($context.responseOverride.status = 413)',
    answer('MESSAGE_TOO_LARGE', 'A message has at most 1 MiB: put the payload into S3 and send a payloadRef'),
    '#else',
    answer('MESSAGE_REFUSED', 'The queue refused the message: it takes only characters that XML 1.0 allows'),
    '#end',
  ].join(''),
  unavailable: answer('QUEUE_UNAVAILABLE', 'The queue did not take the message: send it again'),
  /** API Gateway's own text would quote the value that broke a rule. */
  invalid: answer(
    'INVALID_ENVELOPE',
    'The body is no envelope: required are messageId, schemaVersion, messageType, producer, occurredAt, idempotencyKey, aggregateType, aggregateId and one of payload and payloadRef; fields that the envelope does not know are refused',
  ),
  tooLarge: answer('MESSAGE_TOO_LARGE', 'The request is too large'),
  unsupported: answer('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json'),
  throttled: answer('THROTTLED', 'Too many requests: send it again later'),
} as const;
