import { type JsonSchema, JsonSchemaType, JsonSchemaVersion } from 'aws-cdk-lib/aws-apigateway';
import { RESERVED_TYPES } from '../../lambdas/core/table.ts';

/** SQS: 1–128 printable ASCII characters make a message group. */
const GROUP_ID = '^[!-~]{1,128}$';
const INSTANT = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d([.,]\\d{1,9})?)?(Z|[+-]\\d\\d:?\\d\\d)$';
const MAX_SAFE_INTEGER = 9007199254740991;

const text = (maxLength: number): JsonSchema => ({ type: JsonSchemaType.STRING, minLength: 1, maxLength });
const pattern = (rule: string): JsonSchema => ({ type: JsonSchemaType.STRING, pattern: rule });
const whole = (maximum: number): JsonSchema => ({ type: JsonSchemaType.INTEGER, minimum: 1, maximum });
const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: JsonSchemaType.OBJECT,
  additionalProperties: false,
  properties,
  ...(required.length === 0 ? {} : { required }),
});

/**
 * The envelope as a JSON schema of draft 4, which is what API Gateway takes. It refuses nothing that the starter
 * would accept, but for what cannot be a message group: in a FIFO queue the aggregate id, in a standard queue the
 * tenant. What only code can check (Unicode, calendar dates) the starter checks.
 */
export function envelopeModel(fifo: boolean): JsonSchema {
  const reserved = RESERVED_TYPES.map(caseless).join('|');
  const ordinary = object(
    {
      messageId: text(128),
      schemaVersion: whole(MAX_SAFE_INTEGER),
      messageType: pattern('^[A-Za-z][A-Za-z0-9]{0,99}$'),
      producer: text(100),
      occurredAt: pattern(INSTANT),
      // Counted before normalisation, which may shorten it.
      idempotencyKey: text(800),
      aggregateType: pattern(`^(?!(${reserved})$)[A-Za-z][A-Za-z0-9_]{0,99}$`),
      aggregateId: fifo ? pattern(GROUP_ID) : text(400),
      tenantId: fifo ? text(256) : pattern(GROUP_ID),
      aggregateVersion: whole(MAX_SAFE_INTEGER),
      causationId: text(400),
      correlationId: text(400),
      traceparent: pattern('^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
      attemptPolicy: object({
        maxBusinessAttempts: whole(100),
        notBefore: { type: [JsonSchemaType.STRING, JsonSchemaType.NULL] },
        retryableUntil: pattern(INSTANT),
        terminalAfterCodes: { type: JsonSchemaType.ARRAY, items: text(200), maxItems: 50 },
      }),
      payload: { type: JsonSchemaType.OBJECT },
      payloadRef: object(
        { bucket: text(510), key: text(2048), versionId: text(2048), sha256: pattern('^[0-9a-f]{64}$') },
        ['bucket', 'key', 'sha256'],
      ),
    },
    [
      'messageId',
      'schemaVersion',
      'messageType',
      'producer',
      'occurredAt',
      'idempotencyKey',
      'aggregateType',
      'aggregateId',
    ],
  );
  return {
    schema: JsonSchemaVersion.DRAFT4,
    title: 'Envelope',
    ...ordinary,
    oneOf: [{ required: ['payload'] }, { required: ['payloadRef'] }],
  };
}

/** A word as a pattern in any case: flags cannot be given. */
const caseless = (word: string): string =>
  [...word].map((letter) => `[${letter}${letter.toLowerCase()}]`).join('');
