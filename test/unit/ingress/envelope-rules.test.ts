import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateEnvelope } from '../../../lambdas/core/envelope.ts';
import { readIngress } from '../../../local/ingress/template.ts';
import { renderVelocity } from '../../../local/ingress/velocity.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { ingressTemplate } from '../../helpers/ingress-template.ts';

const CANARY = 'canary7f3a';
const SHA = 'a'.repeat(64);

/** What a queue's ingress finds wrong with a body, as `path: rule`. */
function checkerOf(fifo: boolean) {
  const { routes } = readIngress(ingressTemplate({}, { fifo }).toJSON());
  const template = routes[0]?.requestTemplates['application/json'] ?? '';
  return (body: unknown): string[] => {
    const { text, overrides } = renderVelocity(template, {
      body: JSON.stringify(body),
      params: {},
      context: {},
    });
    const faults = overrides['requestOverride.header.faults'];
    expect(text.includes('MessageBody')).toBe(faults === undefined);
    return faults === undefined ? [] : faults.split('; ');
  };
}
const standard = checkerOf(false);
const fifo = checkerOf(true);

const words = fc.oneof(
  fc.string({ maxLength: 140 }),
  fc.constantFrom(
    '',
    'é'.repeat(100),
    '😀'.repeat(101),
    'IDEMP',
    'effect',
    'Case_1',
    '2026-01-01T00:00:00Z',
    '2026-02-30T25:00:00+01:00',
  ),
);
const values = fc.oneof(words, fc.integer(), fc.double(), fc.constant(null), fc.object(), fc.boolean());
const changes = fc.dictionary(
  fc.constantFrom(
    ...Object.keys(deadlineEnvelope()),
    'tenantId',
    'causationId',
    'traceparent',
    'payloadRef',
    'extra',
  ),
  values,
  { maxKeys: 2 },
);

describe('the ingress’s rules', () => {
  it('refuse nothing that the starter would accept, but for a tenant that is no message group', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const envelope = deadlineEnvelope(change);
        if (!validateEnvelope(envelope).ok || change.tenantId !== undefined) return;
        expect(standard(envelope)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('take everything that an envelope may hold', () => {
    const { payload: _, ...rest } = deadlineEnvelope({
      tenantId: 'ana',
      causationId: 'c',
      correlationId: 'c',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      attemptPolicy: {
        maxBusinessAttempts: 100,
        notBefore: null,
        retryableUntil: '2026-01-01T00:00:00,5+0100',
        terminalAfterCodes: ['A', 'B'],
      },
      payloadRef: { bucket: 'b', key: 'k', versionId: 'v', sha256: SHA },
    });

    expect(standard(rest)).toEqual([]);
    expect(fifo(rest)).toEqual([]);
  });

  const long = CANARY.repeat(200);
  const string = 'must be a string';
  const whole = 'must be a whole number from 1 to 9007199254740991';
  const instant = 'must be an ISO 8601 instant with an offset or Z';
  const unknown = 'is not a field of the envelope';
  it.each<[string, Record<string, unknown>, readonly string[]]>([
    ...[
      'messageId',
      'schemaVersion',
      'messageType',
      'producer',
      'occurredAt',
      'idempotencyKey',
      'aggregateType',
      'aggregateId',
    ].map((name): [string, Record<string, unknown>, string[]] => [
      `no ${name}`,
      { [name]: undefined },
      [`$.${name}: is required`],
    ]),
    [
      'texts that are numbers',
      { messageId: 1, producer: 2 },
      [`$.messageId: ${string}`, `$.producer: ${string}`],
    ],
    ['a text that is null', { correlationId: null }, [`$.correlationId: ${string}`]],
    ['an empty key', { idempotencyKey: '' }, ['$.idempotencyKey: must not be empty']],
    ['a long message id', { messageId: long }, ['$.messageId: must be at most 128 characters']],
    ['a long producer', { producer: long }, ['$.producer: must be at most 100 characters']],
    ['a long key', { idempotencyKey: long }, ['$.idempotencyKey: must be at most 200 characters']],
    ['a long aggregate id', { aggregateId: long }, ['$.aggregateId: must be at most 200 characters']],
    ['a long causation id', { causationId: long }, ['$.causationId: must be at most 200 characters']],
    [
      'a control character',
      { correlationId: `${CANARY}\n` },
      ['$.correlationId: must hold no control characters'],
    ],
    [
      'a type with a space',
      { messageType: `${CANARY} x` },
      ['$.messageType: must match [A-Za-z][A-Za-z0-9]{0,99}'],
    ],
    [
      'a reserved aggregate type in any case',
      { aggregateType: 'Outbox' },
      [
        '$.aggregateType: must match [A-Za-z][A-Za-z0-9_]{0,99} and be none of IDEMP, EFFECT, OUTBOX, QUARANTINE, COUNTER',
      ],
    ],
    [
      'versions that are none',
      { schemaVersion: '1', aggregateVersion: 0 },
      [`$.schemaVersion: ${whole}`, `$.aggregateVersion: ${whole}`],
    ],
    [
      'a version beyond exact numbers',
      { aggregateVersion: 9007199254740992 },
      [`$.aggregateVersion: ${whole}`],
    ],
    ['a time without an offset', { occurredAt: '2026-01-01T00:00:00' }, [`$.occurredAt: ${instant}`]],
    [
      'a trace of another form',
      { traceparent: CANARY },
      ['$.traceparent: must be a W3C Trace Context traceparent'],
    ],
    ['an unknown field', { extra: CANARY }, [`$.extra: ${unknown}`]],
    ['an unknown field whose name is a text', { [`${CANARY} name`]: 1 }, [`$.?: ${unknown}`]],
    ['a payload that is a list', { payload: [CANARY] }, ['$.payload: must be an object']],
    [
      'neither payload nor reference',
      { payload: undefined },
      ['$: must have exactly one of payload and payloadRef'],
    ],
    [
      'both',
      { payloadRef: { bucket: 'b', key: 'k', sha256: SHA } },
      ['$: must have exactly one of payload and payloadRef'],
    ],
    [
      'a reference without its parts',
      { payload: undefined, payloadRef: { sha256: CANARY, versionId: 1, etag: CANARY } },
      [
        '$.payloadRef.bucket: is required',
        '$.payloadRef.key: is required',
        `$.payloadRef.versionId: ${string}`,
        '$.payloadRef.sha256: must be 64 lower-case hexadecimal digits',
        `$.payloadRef.etag: ${unknown}`,
      ],
    ],
    ['a policy that is a text', { attemptPolicy: CANARY }, ['$.attemptPolicy: must be an object']],
    [
      'a policy with wrong parts',
      {
        attemptPolicy: {
          maxBusinessAttempts: 101,
          notBefore: CANARY,
          retryableUntil: null,
          terminalAfterCodes: ['A', '', 3, long],
          retryableUnti: CANARY,
        },
      },
      [
        '$.attemptPolicy.maxBusinessAttempts: must be a whole number from 1 to 100',
        `$.attemptPolicy.notBefore: ${instant}`,
        `$.attemptPolicy.retryableUntil: ${string}`,
        '$.attemptPolicy.terminalAfterCodes[1]: must not be empty',
        `$.attemptPolicy.terminalAfterCodes[2]: ${string}`,
        '$.attemptPolicy.terminalAfterCodes[3]: must be at most 100 characters',
        `$.attemptPolicy.retryableUnti: ${unknown}`,
      ],
    ],
    [
      'codes that are no list',
      { attemptPolicy: { terminalAfterCodes: CANARY } },
      ['$.attemptPolicy.terminalAfterCodes: must be an array'],
    ],
    [
      'too many codes',
      { attemptPolicy: { terminalAfterCodes: Array.from({ length: 51 }, () => 'A') } },
      ['$.attemptPolicy.terminalAfterCodes: must name at most 50 codes'],
    ],
  ])('name path and rule of %s, and no value', (_what, change, faults) => {
    const found = standard(deadlineEnvelope(change));

    expect(found).toEqual(faults);
    expect(found.join()).not.toContain(CANARY);
  });

  it('repeat no value, whatever stands where', () => {
    const secret = fc.string().map((text) => `${CANARY}${text}`);
    const anything = fc.oneof(
      secret,
      fc.array(secret),
      fc.dictionary(fc.constantFrom('notBefore', 'terminalAfterCodes', 'bucket', 'sha256', 'other'), secret),
      fc.dictionary(fc.constantFrom('terminalAfterCodes', 'key'), fc.array(fc.oneof(secret, fc.integer()))),
    );
    const fields = [
      ...Object.keys(deadlineEnvelope()),
      'tenantId',
      'attemptPolicy',
      'payloadRef',
      'traceparent',
    ];

    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...fields), anything, { minKeys: 1 }), (change) => {
        for (const check of [standard, fifo]) {
          expect(check(deadlineEnvelope(change)).join()).not.toContain(CANARY);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('take for a message group only what SQS takes', () => {
    const rule = 'must be 1 to 128 printable ASCII characters, because it is the message group';

    expect(fifo(deadlineEnvelope({ aggregateId: 'CASE 123' }))).toEqual([`$.aggregateId: ${rule}`]);
    expect(standard(deadlineEnvelope({ aggregateId: 'CASE 123' }))).toEqual([]);
    expect(standard(deadlineEnvelope({ tenantId: 'übung' }))).toEqual([`$.tenantId: ${rule}`]);
    expect(fifo(deadlineEnvelope({ tenantId: 'übung' }))).toEqual([]);
  });

  it('make an answer that fits a header, however much is wrong', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field${index}`, CANARY]));

    expect(standard({ ...many, payload: {} }).join('; ').length).toBeLessThan(3_000);
  });
});
