import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Envelope } from './envelope.ts';
import { ConfigurationError } from './errors.ts';
import type { TypeAttempts } from './policy.ts';

const ORDERINGS = ['none', 'latest', 'sequential', 'arrival'] as const;
/**
 * How messages of one type are ordered on their aggregate: `none`; `latest` (an older version is superseded);
 * `sequential` (every version in its turn); `arrival` (the starter gives the versions, for FIFO queues).
 */
export type Ordering = (typeof ORDERINGS)[number];

/** A value that a plan may write. `undefined` leaves an attribute as it is; a bigint becomes an exact number. */
export type PlanValue =
  | null
  | undefined
  | boolean
  | number
  | string
  | bigint
  | Date
  | readonly PlanValue[]
  | { readonly [key: string]: PlanValue };

/** An aggregate as a handler sees it. */
export interface AggregateView {
  /** The domain's attributes. Whole numbers beyond 2^53 are bigints. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Number of commits so far. */
  readonly revision: number;
  /** Last applied version of the type's ordering stream; 0 when none was. */
  readonly version: number;
}

/** What is known of an effect that the plan asked for. */
export interface EffectResult {
  /** The provider's reference, if it gave one. */
  readonly reference?: string;
  /** The provider's answer. */
  readonly response?: unknown;
  /** The request that was carried out: differs from the one just asked for only with `onRequestChange: 'keep'`. */
  readonly request?: unknown;
  /** The answer is the effect's `fallback`, because the provider could not give one. */
  readonly degraded: boolean;
}

/** An external effect that a plan needs before it can be committed. */
export interface EffectRequest {
  /** Unique in the plan. With the idempotency key it is the effect's identity, so it must never change. */
  readonly name: string;
  /** Name of a provider that the worker has. */
  readonly provider: string;
  /** Name of one of its operations. */
  readonly operation: string;
  /** What is asked: the operation's schema validates it before the call. */
  readonly request: PlanValue;
  /** Shares the answer across messages that ask the same question. */
  readonly cache?: {
    readonly key: string;
    readonly ttlSeconds: number;
    /** A stored answer of a lower version is void. @default 0 */
    readonly version?: number;
  };
  /** Answer to use, marked `degraded`, when attempts run out. */
  readonly fallback?: PlanValue;
  /** A completed effect asked for with another request: fail, or keep what was done. @default 'fail' */
  readonly onRequestChange?: 'fail' | 'keep';
  /** The effect's own retry policy, within the message's. @default the message's */
  readonly attempts?: { readonly max?: number; readonly baseSeconds?: number; readonly capSeconds?: number };
}

/** An event to publish, at least once, after the plan is committed. Its fields are those of an envelope. */
export interface PlanEvent {
  readonly messageType: string;
  /** @default 1 */
  readonly schemaVersion?: number;
  /** Names what the event tells of: its receivers drop what they know by it. */
  readonly idempotencyKey: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly aggregateVersion?: number;
  /** Becomes plain JSON: a bigint is refused, send it as text. */
  readonly payload: { readonly [key: string]: PlanValue };
}

/** The key of an item in the worker's table. */
export interface PlanKey {
  readonly PK: string;
  readonly SK: string;
}

/** A further item to write in the same transaction. */
export interface PlanWrite {
  readonly key: PlanKey;
  /** Whole item; replaces `set`/`remove`. */
  readonly put?: { readonly [attribute: string]: PlanValue };
  /** Attributes to set on the item. */
  readonly set?: { readonly [attribute: string]: PlanValue };
  /** Attributes to remove from the item. */
  readonly remove?: readonly string[];
  /** Deletes the item. */
  readonly delete?: true;
  /** What must hold of the item for the whole plan to be committed. */
  readonly guard?: { readonly exists: boolean } | { readonly attribute: string; readonly equals: PlanValue };
}

/** What a handler wants to happen. Everything in it is written in one transaction, or none of it. */
export interface Plan {
  /** Attributes to set on the aggregate. */
  readonly set?: { readonly [attribute: string]: PlanValue };
  /** Attributes to remove from the aggregate. */
  readonly remove?: readonly string[];
  /** Further items to write. */
  readonly writes?: readonly PlanWrite[];
  /** Effects that must have happened first. While one is missing, nothing else of the plan is used. */
  readonly effects?: readonly EffectRequest[];
  /** Run the missing effects side by side instead of in order. @default false */
  readonly parallel?: boolean;
  /** Events to publish. */
  readonly events?: readonly PlanEvent[];
  /** A reference to the result, kept in the inbox row; at most 300 characters. */
  readonly resultRef?: string;
}

/** What a handler is given. */
export interface PlanInput<P> {
  /** The message, validated. */
  readonly envelope: Envelope;
  /** The validated payload, lifted to the newest schema version. */
  readonly payload: P;
  /** Undefined when the aggregate has never been written. */
  readonly aggregate: AggregateView | undefined;
  /** Completed effects, by name. */
  readonly effects: Readonly<Record<string, EffectResult>>;
  /** Items named by `reads`, in its order; undefined where there is none. */
  readonly reads: readonly (Readonly<Record<string, unknown>> | undefined)[];
  /** When the execution started or was last redriven: the same in every round. */
  readonly now: Date;
}

/** A message type: what it may look like, how it is ordered, and what is planned for it. */
export interface MessageDefinition<P> {
  /** `[A-Za-z][A-Za-z0-9]{0,99}` */
  readonly type: string;
  /** A validator for each schema version that is still accepted: any Standard Schema. */
  readonly schemas: Readonly<Record<number, StandardSchemaV1>>;
  /** Lifts a payload of version n to version n+1; it is then validated again. */
  readonly upcast?: Readonly<Record<number, (payload: unknown) => unknown>>;
  readonly ordering: Ordering;
  /** Types of one stream share a version sequence on an aggregate, one ordering and one `data`. @default the type */
  readonly stream?: string;
  /** Business attempts and their back-off. @default 5 attempts, base 2 s, cap 300 s */
  readonly attempts?: TypeAttempts;
  /** What happens behind a quarantined predecessor (`sequential`, `arrival`). @default 'block' */
  readonly onPredecessorFailure?: 'block' | 'skip';
  /** Seconds for which a missing predecessor is waited for. @default 86400 */
  readonly gapTimeoutSeconds?: number;
  /** Codes the type declares: they become metric dimensions. Others count as OTHER. */
  readonly failureCodes?: readonly string[];
  /** `reference` keeps payload and plan out of execution histories. @default 'inline' */
  readonly data?: 'inline' | 'reference';
  /** `digest` keeps the idempotency key out of execution names. @default 'readable' */
  readonly executionNames?: 'readable' | 'digest';
  /** How a `payloadRef`'s object is read. `bytes` gives a Uint8Array. @default 'json' */
  readonly payloadFormat?: 'json' | 'bytes';
  /** Largest object a `payloadRef` may name. @default 10 MiB */
  readonly maxPayloadBytes?: number;
  /** Further items the plan rests on: read consistently, and checked unchanged at commit. */
  reads?(input: { readonly envelope: Envelope; readonly payload: P }): readonly PlanKey[];
  /** Synchronous and deterministic: same input, same plan. Cannot write. */
  plan(input: PlanInput<P>): Plan;
}

/** A definition whose payload type only its own schemas and handler know. */
export type AnyMessageDefinition = MessageDefinition<unknown>;

type Schemas = Readonly<Record<number, StandardSchemaV1>>;
type Upcasts = Readonly<Record<number, (payload: never) => unknown>>;
/** Versions without an upcast are what `plan` may see. */
type PayloadOf<S extends Schemas, U extends Upcasts> = StandardSchemaV1.InferOutput<
  S[Exclude<keyof S, keyof U> & keyof S] extends StandardSchemaV1
    ? S[Exclude<keyof S, keyof U> & keyof S]
    : never
>;

type DefinitionInput<S extends Schemas, U extends Upcasts> = Omit<
  MessageDefinition<PayloadOf<S, U>>,
  'schemas' | 'upcast'
> & { readonly schemas: S; readonly upcast?: U };

/**
 * Defines a message type: its schemas, its ordering and its pure handler.
 *
 * @throws ConfigurationError naming every fault of the definition.
 */
export function defineMessage<const S extends Schemas, const U extends Upcasts = Record<never, never>>(
  definition: DefinitionInput<S, U>,
): MessageDefinition<PayloadOf<S, U>> {
  const faults = definitionFaults(definition);
  if (faults.length > 0) {
    throw new ConfigurationError(`Message type ${definition.type}: ${faults.join('; ')}`);
  }
  const { upcast, ...rest } = definition;
  return upcast === undefined ? rest : { ...rest, upcast: widenUpcasts(upcast) };
}

/** Each upcast receives what the schema of its own version let through, which is what it was typed for. */
function widenUpcasts(upcast: Upcasts): Readonly<Record<number, (payload: unknown) => unknown>> {
  return upcast as Readonly<Record<number, (payload: unknown) => unknown>>;
}

interface DefinitionFacts {
  readonly type: string;
  readonly schemas: Schemas;
  readonly upcast?: Upcasts;
  readonly ordering: Ordering;
  readonly stream?: string;
  readonly attempts?: TypeAttempts;
  readonly gapTimeoutSeconds?: number;
}

function definitionFaults(definition: DefinitionFacts): string[] {
  const faults: string[] = [];
  const versions = Object.keys(definition.schemas).map(Number);
  const newest = Math.max(...versions);
  if (!/^[A-Za-z][A-Za-z0-9]{0,99}$/.test(definition.type)) {
    faults.push('type must match [A-Za-z][A-Za-z0-9]{0,99}');
  }
  if (versions.length === 0) faults.push('schemas must hold at least one version');
  if (versions.some((version) => !Number.isSafeInteger(version) || version < 1)) {
    faults.push('schemas must be keyed by whole numbers from 1');
  }
  for (const version of Object.keys(definition.upcast ?? {}).map(Number)) {
    if (!versions.includes(version)) faults.push(`upcast ${version} has no schema ${version}`);
    if (!versions.includes(version + 1)) faults.push(`upcast ${version} needs a schema ${version + 1}`);
  }
  if (definition.upcast?.[newest] !== undefined) faults.push(`the newest schema ${newest} cannot be upcast`);
  if (!ORDERINGS.includes(definition.ordering)) {
    faults.push(`ordering must be one of ${ORDERINGS.join(', ')}`);
  }
  if (definition.stream !== undefined && !/^[A-Za-z][A-Za-z0-9]{0,99}$/.test(definition.stream)) {
    faults.push('stream must match [A-Za-z][A-Za-z0-9]{0,99}');
  }
  const { max, baseSeconds, capSeconds } = definition.attempts ?? {};
  if (max !== undefined && !(Number.isSafeInteger(max) && max >= 1 && max <= 100)) {
    faults.push('attempts.max must be a whole number from 1 to 100');
  }
  if (baseSeconds !== undefined && !(baseSeconds > 0)) faults.push('attempts.baseSeconds must be above 0');
  if (capSeconds !== undefined && !(capSeconds >= (baseSeconds ?? 0))) {
    faults.push('attempts.capSeconds must not be below attempts.baseSeconds');
  }
  if (definition.gapTimeoutSeconds !== undefined && !(definition.gapTimeoutSeconds > 0)) {
    faults.push('gapTimeoutSeconds must be above 0');
  }
  return faults;
}
