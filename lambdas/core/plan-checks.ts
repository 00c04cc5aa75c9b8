import type { AggregateChange, WireCheck, WireEffect, WireEvent, WireWrite } from './decision.ts';
import { type Envelope, validateEnvelope } from './envelope.ts';
import { FAILURE_CODES, TerminalFailure } from './errors.ts';
import { canonicalJson, sha256 } from './identity.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { EffectRequest, Plan, PlanEvent, PlanKey, PlanWrite } from './message-type.ts';
import {
  AGGREGATE_SORT_KEY,
  INDEX_ATTRIBUTES,
  type ItemKey,
  isWorkersAttribute,
  RESERVED_TYPES,
} from './table.ts';
import { recordToWire, toWire, WireError, wireBytes } from './wire.ts';

/** DynamoDB: actions of one transaction, less the aggregate and the inbox row. */
const MAX_TRANSACTION_ITEMS = 100;
const MAX_ITEM_BYTES = 400 * 1024;
const RESULT_REF_MAX = 300;
const EFFECT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

/** The parts of a plan in wire form: what Commit and RunEffect receive. */
export interface WirePlan {
  readonly set: JsonObject;
  readonly remove: readonly string[];
  readonly writes: readonly WireWrite[];
  readonly events: readonly WireEvent[];
  readonly resultRef?: string;
}

export interface EventOrigin {
  readonly envelope: Envelope;
  readonly producer: string;
  /** ISO 8601 */
  readonly occurredAt: string;
  /** Attributes of the aggregate's item that only the worker writes. @default those of the worker's table */
  readonly reserved?: readonly string[] | undefined;
}

/**
 * Checks a plan and turns it into wire form.
 *
 * @throws TerminalFailure `PLAN_INVALID` naming the path and the rule, or `PLAN_TOO_LARGE`.
 */
export function checkPlan(plan: Plan, origin: EventOrigin): WirePlan {
  return asPlanFailure(() => {
    const set = recordToWire(plan.set ?? {}, 'set');
    for (const attribute of [...Object.keys(set), ...(plan.remove ?? [])]) {
      checkAttribute(attribute, 'set', origin.reserved);
    }
    const both = (plan.remove ?? []).find((attribute) => Object.hasOwn(set, attribute));
    if (both !== undefined) throw new WireError(`remove`, `must not name ${both}, which is set as well`);
    const writes = (plan.writes ?? []).map((write, index) => wireWrite(write, `writes[${index}]`));
    const events = (plan.events ?? []).map((event, index) => wireEvent(event, `events[${index}]`, origin));
    checkDistinct([...writes.map(({ key }) => key)]);
    if (events.length !== new Set(events.map(({ eventId }) => eventId)).size) {
      throw new WireError('events', 'must have distinct idempotency keys');
    }
    if (plan.resultRef !== undefined && [...plan.resultRef].length > RESULT_REF_MAX) {
      throw new WireError('resultRef', `must be at most ${RESULT_REF_MAX} characters`);
    }
    return {
      set,
      remove: plan.remove ?? [],
      writes,
      events,
      ...(plan.resultRef === undefined ? {} : { resultRef: plan.resultRef }),
    };
  });
}

/**
 * Turns the effects a plan asks for into wire form.
 *
 * @throws TerminalFailure `PLAN_INVALID`
 */
export function checkEffects(effects: readonly EffectRequest[], envelope: Envelope): readonly WireEffect[] {
  return asPlanFailure(() => {
    const names = new Set<string>();
    return effects.map((effect, index) => {
      const path = `effects[${index}]`;
      if (!EFFECT_NAME.test(effect.name)) {
        throw new WireError(`${path}.name`, 'must match [A-Za-z][A-Za-z0-9_-]{0,99}');
      }
      if (names.has(effect.name)) throw new WireError(`${path}.name`, 'must be unique in the plan');
      names.add(effect.name);
      const request = toWire(effect.request, `${path}.request`);
      return {
        key: effectKey(effect, envelope.idempotencyKey),
        name: effect.name,
        provider: effect.provider,
        operation: effect.operation,
        request,
        requestHash: effectRequestHash(effect.provider, effect.operation, request),
        onRequestChange: effect.onRequestChange ?? 'fail',
        idempotencyKey: envelope.idempotencyKey,
        ...(effect.cache === undefined
          ? {}
          : { cache: { ttlSeconds: effect.cache.ttlSeconds, version: effect.cache.version ?? 0 } }),
        ...retryOf(effect),
        ...(envelope.correlationId === undefined ? {} : { correlationId: envelope.correlationId }),
        ...(envelope.traceparent === undefined ? {} : { traceparent: envelope.traceparent }),
      };
    });
  });
}

function retryOf({ attempts }: EffectRequest): Pick<WireEffect, 'retry'> {
  const { baseSeconds, capSeconds } = attempts ?? {};
  if (baseSeconds === undefined && capSeconds === undefined) return {};
  return {
    retry: {
      ...(baseSeconds === undefined ? {} : { baseSeconds }),
      ...(capSeconds === undefined ? {} : { capSeconds }),
    },
  };
}

/**
 * `<idempotencyKey>#<name>`: never a position, which a handler fix between failure and redrive would shift into a
 * second charge. A cached effect is shared by all that ask for its cache key.
 */
const effectKey = (effect: Pick<EffectRequest, 'name' | 'cache'>, idempotencyKey: string): string =>
  effect.cache === undefined ? `${idempotencyKey}#${effect.name}` : `CACHE#${effect.cache.key}`;

const effectRequestHash = (provider: string, operation: string, request: JsonValue): string =>
  sha256(canonicalJson({ provider, operation, request }));

/** Checks what does not depend on one part alone: the number of actions, and the size of every item. */
export function checkLimits(parts: {
  readonly aggregate: AggregateChange;
  readonly writes: readonly WireWrite[];
  readonly checks: readonly WireCheck[];
  readonly events: readonly WireEvent[];
}): void {
  const { domain, waiting } = parts.aggregate;
  const own = 2 + (domain === undefined ? 0 : 1) + (waiting === undefined ? 0 : 1);
  const actions = own + parts.writes.length + parts.checks.length + parts.events.length;
  if (actions > MAX_TRANSACTION_ITEMS) {
    throw tooLarge(`the plan needs ${actions} actions, a transaction takes ${MAX_TRANSACTION_ITEMS}`);
  }
  const keys = [
    parts.aggregate.key,
    ...parts.writes.map(({ key }) => key),
    ...parts.checks.map(({ key }) => key),
  ];
  asPlanFailure(() => checkDistinct(keys));
  const items = [
    domain?.set ?? parts.aggregate.set,
    ...parts.writes.map((write) => write.put ?? write.set ?? {}),
  ];
  for (const [index, item] of items.entries()) {
    if (wireBytes(item) > MAX_ITEM_BYTES) {
      const what = index === 0 ? 'set' : `writes[${index - 1}]`;
      throw tooLarge(`${what} is over DynamoDB's ${MAX_ITEM_BYTES} bytes an item`);
    }
  }
}

/** @throws TerminalFailure `PLAN_TOO_LARGE` when a state's data would exceed what Step Functions carries. */
export function checkStateSize(value: unknown, what: string, limitBytes: number): void {
  const bytes = wireBytes(value);
  if (bytes > limitBytes) throw tooLarge(`${what} is ${bytes} bytes, Step Functions carries ${limitBytes}`);
}

function wireWrite(write: PlanWrite, path: string): WireWrite {
  checkKey(write.key, `${path}.key`);
  const kinds = [write.put, write.delete, write.set ?? write.remove].filter((part) => part !== undefined);
  if (kinds.length !== 1) {
    throw new WireError(path, 'must have exactly one of put, delete and set/remove');
  }
  if (write.key.SK === AGGREGATE_SORT_KEY) {
    // Other plans rest on an aggregate's revision and versions: they may not be lost or set back.
    if (write.put !== undefined || write.delete) {
      throw new WireError(path, 'must change an aggregate by set and remove');
    }
    const attributes = [...Object.keys(write.set ?? {}), ...(write.remove ?? [])];
    for (const attribute of attributes) checkAttribute(attribute, `${path}.set`);
  }
  const { guard } = write;
  return {
    key: { PK: write.key.PK, SK: write.key.SK },
    ...(write.put === undefined
      ? {}
      : { put: withoutKey(recordToWire(write.put, `${path}.put`), `${path}.put`) }),
    ...(write.set === undefined
      ? {}
      : { set: withoutKey(recordToWire(write.set, `${path}.set`), `${path}.set`) }),
    ...(write.remove === undefined ? {} : { remove: write.remove }),
    ...(write.delete === undefined ? {} : { delete: true }),
    ...(guard === undefined
      ? {}
      : {
          guard:
            'exists' in guard
              ? { exists: guard.exists }
              : { attribute: guard.attribute, equals: toWire(guard.equals, `${path}.guard.equals`) },
        }),
  };
}

function wireEvent(event: PlanEvent, path: string, origin: EventOrigin): WireEvent {
  const { envelope, producer, occurredAt } = origin;
  const eventId = sha256(`${envelope.idempotencyKey}#${event.messageType}#${event.idempotencyKey}`);
  const result = validateEnvelope({
    messageId: eventId,
    schemaVersion: event.schemaVersion ?? 1,
    messageType: event.messageType,
    producer,
    occurredAt,
    idempotencyKey: event.idempotencyKey,
    aggregateType: event.aggregateType,
    aggregateId: event.aggregateId,
    causationId: envelope.messageId,
    ...(event.aggregateVersion === undefined ? {} : { aggregateVersion: event.aggregateVersion }),
    ...(envelope.tenantId === undefined ? {} : { tenantId: envelope.tenantId }),
    ...(envelope.correlationId === undefined ? {} : { correlationId: envelope.correlationId }),
    ...(envelope.traceparent === undefined ? {} : { traceparent: envelope.traceparent }),
    payload: jsonPayload(event.payload, `${path}.payload`),
  });
  if (!result.ok) {
    const [first] = result.issues;
    throw new WireError(`${path}${first?.path.slice(1) ?? ''}`, first?.rule ?? 'must be an envelope');
  }
  return { eventId, envelope: JSON.stringify(result.envelope) };
}

/** An event is plain JSON, which its readers need no convention of ours for. */
function jsonPayload(payload: PlanEvent['payload'], path: string): JsonObject {
  const bigint = findBigint(payload, path);
  if (bigint !== undefined) throw new WireError(bigint, 'must not be a bigint in an event (send text)');
  return recordToWire(payload, path);
}

function findBigint(value: unknown, path: string): string | undefined {
  if (typeof value === 'bigint') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    const found = findBigint(entry, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keys of the worker's own rows and of other aggregates' bookkeeping are not a plan's to write. */
function checkKey(key: PlanKey, path: string): void {
  const type = key.PK.split('#', 1)[0]?.toUpperCase() ?? '';
  if (key.PK === '' || key.SK === '')
    throw new WireError(path, 'must have a PK and an SK that are not empty');
  if (RESERVED_TYPES.some((reserved) => reserved === type)) {
    throw new WireError(`${path}.PK`, `must not begin with ${type}# (reserved)`);
  }
  if (/^(WAITER|SKIP|ARRIVAL)#/.test(key.SK)) {
    throw new WireError(`${path}.SK`, 'must not begin with WAITER#, SKIP# or ARRIVAL# (reserved)');
  }
}

function checkAttribute(attribute: string, path: string, others?: readonly string[]): void {
  const reserved = others?.includes(attribute) ?? isWorkersAttribute(attribute);
  if (reserved) throw new WireError(`${path}.${attribute}`, 'is written by the worker alone');
}

function withoutKey(item: JsonObject, path: string): JsonObject {
  if (Object.hasOwn(item, 'PK') || Object.hasOwn(item, 'SK')) {
    throw new WireError(path, 'must not hold PK or SK (they are given as key)');
  }
  const indexed = INDEX_ATTRIBUTES.find((name) => Object.hasOwn(item, name));
  if (indexed !== undefined) throw new WireError(`${path}.${indexed}`, 'is written by the worker alone');
  return item;
}

function checkDistinct(keys: readonly ItemKey[]): void {
  const seen = new Set<string>();
  for (const { PK, SK } of keys) {
    const id = JSON.stringify([PK, SK]);
    if (seen.has(id)) {
      throw new WireError('writes', 'must name each item once, and none that the aggregate or reads name');
    }
    seen.add(id);
  }
}

function asPlanFailure<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof WireError) throw new TerminalFailure(FAILURE_CODES.PLAN_INVALID, error.message);
    throw error;
  }
}

const tooLarge = (message: string) => new TerminalFailure(FAILURE_CODES.PLAN_TOO_LARGE, message);
