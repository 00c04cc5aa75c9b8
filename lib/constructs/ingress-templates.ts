import { HEADER_PREFIX, RECEIVED_AT_ATTRIBUTE, WEBHOOK_ATTRIBUTE } from '../../lambdas/core/sources.ts';
import { checksOf } from './ingress-checks.ts';
import { envelopeRules } from './ingress-rules.ts';

/** A message attribute in SQS's query protocol. The value is a piece of template. */
const attribute = (index: number, name: string, value: string): string =>
  [
    `&MessageAttribute.${index}.Name=${encodeURIComponent(name)}`,
    `&MessageAttribute.${index}.Value.DataType=String`,
    `&MessageAttribute.${index}.Value.StringValue=${value}`,
  ].join('');

const CALL = 'Action=SendMessage&Version=2012-11-05';
const BODY = '&MessageBody=$util.urlEncode($input.body)';

/** Where faults travel from the request's mapping to the answer's: a header of the call, which SQS does not read. */
const FAULTS = '$context.requestOverride.header.faults';

/**
 * `POST /messages`: the body as it is; the message group is the aggregate (FIFO) or the tenant (fair queues). An
 * envelope that breaks a rule makes a call without a body, which SQS refuses and which the answer explains.
 */
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
  return [
    checksOf(envelopeRules(fifo)),
    `#if($faults != "")#set(${FAULTS} = $faults.substring(2))${CALL}`,
    `#{else}${CALL}${BODY}${group}${trace}#end`,
  ].join('');
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
    `${CALL}${BODY}`,
    `&MessageGroupId=${encodeURIComponent(source)}`,
    attribute(1, WEBHOOK_ATTRIBUTE, encodeURIComponent(source)),
    attribute(2, RECEIVED_AT_ATTRIBUTE, '$context.requestTimeEpoch'),
    ...carried,
  ].join('');
}

const answer = (code: string, message: string): string => JSON.stringify({ code, message });

/** Should faults not have travelled: what an envelope is. */
const NO_ENVELOPE = answer(
  'INVALID_ENVELOPE',
  'The body is no envelope: required are messageId, schemaVersion, messageType, producer, occurredAt, idempotencyKey, aggregateType, aggregateId and one of payload and payloadRef; fields that the envelope does not know are refused',
);

/** SQS says "Message must be shorter than … bytes": the only refusal that is about size. */
const REFUSALS = [
  '#elseif($input.body.contains("must be shorter than"))#set($context.responseOverride.status = 413)',
  answer('MESSAGE_TOO_LARGE', 'A message has at most 1 MiB: put the payload into S3 and send a payloadRef'),
  '#else',
  answer('MESSAGE_REFUSED', 'The queue refused the message: it takes only characters that XML 1.0 allows'),
  '#end',
];

export const ANSWERS = {
  accepted: `{"messageId":"$input.path('$.SendMessageResponse.SendMessageResult.MessageId')"}`,
  refused: [
    `#set($broken = ${FAULTS})#if($broken && $broken != "")`,
    answer('INVALID_ENVELOPE', 'The body is no envelope: $broken'),
    '#elseif($input.body.contains("MissingParameter"))',
    NO_ENVELOPE,
    ...REFUSALS,
  ].join(''),
  refusedWebhook: [
    '#if($input.body.contains("MissingParameter"))',
    answer('MESSAGE_REFUSED', 'The body is empty'),
    ...REFUSALS,
  ].join(''),
  unavailable: answer('QUEUE_UNAVAILABLE', 'The queue did not take the message: send it again'),
  /** The model takes any JSON object. API Gateway's own text would quote what the body holds. */
  notAnObject: answer('INVALID_ENVELOPE', 'The body is no envelope: it must be a JSON object'),
  tooLarge: answer('MESSAGE_TOO_LARGE', 'The request is too large'),
  unsupported: answer(
    'UNSUPPORTED_MEDIA_TYPE',
    'Send a message as application/json, and to a webhook application/json, application/x-www-form-urlencoded or text/plain',
  ),
  throttled: answer('THROTTLED', 'Too many requests: send it again later'),
} as const;
