import { RESERVED_TYPES } from '../../lambdas/core/table.ts';

/** What a field's value must match as a whole, in the syntax that Java and JavaScript share, and how to say it. */
interface PatternRule {
  readonly kind: 'pattern';
  readonly pattern: string;
  readonly rule: string;
  readonly nullable?: true;
}

/** One rule of the envelope that the ingress holds a request to. */
export type FieldRule =
  | PatternRule
  /** `limit` characters by the rule, `counted` as sent: normalisation may shorten a key. */
  | { readonly kind: 'text'; readonly limit: number; readonly counted?: number }
  | { readonly kind: 'whole'; readonly maximum: number }
  | { readonly kind: 'object' }
  | { readonly kind: 'texts'; readonly limit: number; readonly size: number }
  | {
      readonly kind: 'fields';
      readonly fields: Readonly<Record<string, FieldRule>>;
      readonly required: readonly string[];
    };

const text = (limit: number): FieldRule => ({ kind: 'text', limit });
const pattern = (source: string, rule: string): PatternRule => ({ kind: 'pattern', pattern: source, rule });

const MAX_SAFE_INTEGER = 9007199254740991;
/** SQS: 1–128 printable ASCII characters make a message group. */
const GROUP = pattern(
  '[!-~]{1,128}',
  'must be 1 to 128 printable ASCII characters, because it is the message group',
);
const INSTANT = pattern(
  '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])',
  'must be an ISO 8601 instant with an offset or Z',
);
const SHA256 = pattern('[0-9a-f]{64}', 'must be 64 lower-case hexadecimal digits');
const TRACEPARENT = pattern(
  '(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}',
  'must be a W3C Trace Context traceparent',
);
const MESSAGE_TYPE = pattern('[A-Za-z][A-Za-z0-9]{0,99}', 'must match [A-Za-z][A-Za-z0-9]{0,99}');
const AGGREGATE_TYPE = pattern(
  `(?!(${RESERVED_TYPES.map(caseless).join('|')})(?![A-Za-z0-9_]))[A-Za-z][A-Za-z0-9_]{0,99}`,
  `must match [A-Za-z][A-Za-z0-9_]{0,99} and be none of ${RESERVED_TYPES.join(', ')}`,
);

/**
 * The rules of the envelope. They refuse nothing that the starter would accept, but for what cannot be a message
 * group: in a FIFO queue the aggregate id, in a standard queue the tenant. Dates that do not exist and what only a
 * strict parser sees (a field given twice) the starter refuses.
 */
export function envelopeRules(fifo: boolean): FieldRule & { readonly kind: 'fields' } {
  return {
    kind: 'fields',
    fields: {
      messageId: text(128),
      schemaVersion: { kind: 'whole', maximum: MAX_SAFE_INTEGER },
      messageType: MESSAGE_TYPE,
      producer: text(100),
      occurredAt: INSTANT,
      idempotencyKey: { kind: 'text', limit: 200, counted: 800 },
      aggregateType: AGGREGATE_TYPE,
      aggregateId: fifo ? GROUP : text(200),
      tenantId: fifo ? text(128) : GROUP,
      aggregateVersion: { kind: 'whole', maximum: MAX_SAFE_INTEGER },
      causationId: text(200),
      correlationId: text(200),
      traceparent: TRACEPARENT,
      attemptPolicy: {
        kind: 'fields',
        fields: {
          maxBusinessAttempts: { kind: 'whole', maximum: 100 },
          notBefore: { ...INSTANT, nullable: true },
          retryableUntil: INSTANT,
          terminalAfterCodes: { kind: 'texts', limit: 100, size: 50 },
        },
        required: [],
      },
      payload: { kind: 'object' },
      payloadRef: {
        kind: 'fields',
        fields: { bucket: text(255), key: text(1024), versionId: text(1024), sha256: SHA256 },
        required: ['bucket', 'key', 'sha256'],
      },
    },
    required: [
      'messageId',
      'schemaVersion',
      'messageType',
      'producer',
      'occurredAt',
      'idempotencyKey',
      'aggregateType',
      'aggregateId',
    ],
  };
}

/** A word as a pattern in any case. */
function caseless(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toLowerCase()}]`).join('');
}
