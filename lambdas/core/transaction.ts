import type { CommitErrorName } from './commit-errors.ts';
import type { AggregateChange, CommitDecision, WireCheck, WireEvent, WireWrite } from './decision.ts';
import { domainItem } from './domain-commit.ts';
import type { JsonObject } from './json.ts';
import { lastKeyAttribute, versionAttribute } from './ordering.ts';
import { AGGREGATE_SORT_KEY, aggregateIndexKey, type ItemKey, inboxKey, outboxKey } from './table.ts';
import { fromWire, recordFromWire } from './wire.ts';

/** An expression with its placeholders; values are native and marshalled by the adapter. */
export interface Expression {
  readonly text: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A key of the worker's table, or of the table that is named beside it. */
interface Place {
  /** @default the worker's table */
  readonly table?: string;
  readonly key: ItemKey | Readonly<Record<string, string>>;
}

/** One action of a transaction, in DynamoDB's terms but with native values. */
export type TransactionItem =
  | (Place & {
      readonly action: 'Update';
      readonly update: Expression;
      readonly condition?: Expression;
    })
  | {
      readonly action: 'Put';
      readonly item: ItemKey & Readonly<Record<string, unknown>>;
      readonly condition?: Expression;
    }
  | (Place & { readonly action: 'Delete'; readonly condition?: Expression })
  | (Place & { readonly action: 'ConditionCheck'; readonly condition: Expression });

/** How a transaction ended. Anything else is thrown and is a fault of the service or the network. */
export type TransactionOutcome =
  | { readonly outcome: 'committed' }
  | { readonly outcome: CommitErrorName; readonly reasons: readonly string[] };

export interface CommitFacts {
  readonly worker: string;
  readonly executionName: string;
  /** When the execution started (ISO 8601). */
  readonly startedAt: string;
  /** Seconds that the inbox row outlives its completion. */
  readonly inboxTtlSeconds: number;
  /** Seconds that an outbox row is kept. */
  readonly outboxTtlSeconds: number;
}

/**
 * The whole of a commit: domain writes, checks, outbox rows and the inbox row. Every time in it comes from the
 * decision, so that a retry of the same decision is the same transaction.
 */
export function commitItems(decision: CommitDecision, facts: CommitFacts): readonly TransactionItem[] {
  return [
    ...(decision.aggregate === undefined
      ? []
      : [aggregateItem(decision.aggregate, decision.identity.idempotencyKey)]),
    ...(decision.aggregate?.domain === undefined ? [] : [domainItem(decision.aggregate.domain)]),
    ...waitingItems(decision.aggregate),
    ...decision.writes.map(writeItem),
    ...decision.checks.map(checkItem),
    ...decision.events.map((event) => outboxItem(event, decision, facts)),
    inboxItem(decision, facts),
  ];
}

/** Seconds since the epoch, as TTL wants them. */
export const ttlAfter = (instant: string, seconds: number): number =>
  Math.floor(Date.parse(instant) / 1000) + seconds;

/**
 * - `revision = :revision` (or absent): nobody committed on this aggregate since Plan read it
 * - version absent or `< :incoming`: whatever the revision says, a version never goes down
 */
function aggregateItem(change: AggregateChange, idempotencyKey: string): TransactionItem {
  const set: Record<string, unknown> = recordFromWire(change.set);
  const guards: Expression[] = [
    change.revision === null
      ? { text: 'attribute_not_exists(revision)', names: {}, values: {} }
      : { text: 'revision = :revision', names: {}, values: { ':revision': change.revision } },
  ];
  set.revision = (change.revision ?? 0) + 1;
  if (change.version !== undefined) {
    const { stream, incoming } = change.version;
    set[versionAttribute(stream)] = incoming;
    set[lastKeyAttribute(stream)] = idempotencyKey;
    guards.push({
      text: '(attribute_not_exists(#version) OR #version < :incoming)',
      names: { '#version': versionAttribute(stream) },
      values: { ':incoming': incoming },
    });
  }
  return { action: 'Update', key: change.key, update: updateOf(set, change.remove), condition: all(guards) };
}

/** No condition: the aggregate's own guard holds for both. */
function waitingItems(change: AggregateChange | undefined): readonly TransactionItem[] {
  if (change?.waiting === undefined || change.version === undefined) return [];
  const { stream, incoming } = change.version;
  const update = updateOf({ [versionAttribute(stream)]: incoming });
  return [{ action: 'Update', key: change.waiting, update }];
}

/**
 * The inbox row's last word. Condition: absent (somebody started the execution by hand), or the same work, not yet
 * completed and not forgotten, so that a second execution of the key commits nothing, and a replay brings back nothing
 * that was erased.
 */
function inboxItem(decision: CommitDecision, facts: CommitFacts): TransactionItem {
  const { identity, progress, plannedAt } = decision;
  const index = aggregateIndexKey(
    identity.aggregateType,
    identity.aggregateId,
    decision.aggregate?.version?.stream ?? identity.messageType,
    decision.aggregate?.version?.incoming,
  );
  return {
    action: 'Update',
    key: inboxKey(identity.idempotencyKey, facts.worker),
    update: updateOf(
      {
        status: 'COMPLETED',
        outcome: decision.outcome,
        requestHash: identity.requestHash,
        messageType: identity.messageType,
        aggregateType: identity.aggregateType,
        aggregateId: identity.aggregateId,
        aggregateVersion: identity.aggregateVersion,
        correlationId: identity.correlationId,
        executionName: facts.executionName,
        attempts: progress.attempts + 1,
        startedAt: facts.startedAt,
        completedAt: plannedAt,
        resultRef: decision.resultRef,
        ttl: ttlAfter(plannedAt, facts.inboxTtlSeconds),
      },
      ['attention', 'attentionAt'],
      { firstSeenAt: facts.startedAt, ...index },
    ),
    condition: {
      text: 'attribute_not_exists(PK) OR (requestHash = :hash AND #status <> :completed AND attribute_not_exists(forgottenAt))',
      names: { '#status': 'status' },
      values: { ':hash': identity.requestHash, ':completed': 'COMPLETED' },
    },
  };
}

function outboxItem(event: WireEvent, decision: CommitDecision, facts: CommitFacts): TransactionItem {
  return {
    action: 'Put',
    item: {
      ...outboxKey(event.eventId),
      envelope: event.envelope,
      createdAt: decision.plannedAt,
      ttl: ttlAfter(decision.plannedAt, facts.outboxTtlSeconds),
    },
  };
}

function writeItem(write: WireWrite): TransactionItem {
  const condition = write.guard === undefined ? undefined : guardOf(write.guard);
  const guarded = condition === undefined ? {} : { condition };
  if (write.put !== undefined) {
    return { action: 'Put', item: { ...recordFromWire(write.put), ...write.key }, ...guarded };
  }
  if (write.delete) return { action: 'Delete', key: write.key, ...guarded };
  const update = updateOf(recordFromWire(write.set ?? {}), write.remove ?? []);
  return {
    action: 'Update',
    key: write.key,
    update: write.key.SK === AGGREGATE_SORT_KEY ? countingUp(update) : update,
    ...guarded,
  };
}

/** Another aggregate's own messages must notice that it has changed under them. */
function countingUp({ text, names, values }: Expression): Expression {
  return {
    text: `${text} ADD #revision :one`,
    names: { ...names, '#revision': 'revision' },
    values: { ...values, ':one': 1 },
  };
}

function checkItem(check: WireCheck): TransactionItem {
  return {
    action: 'ConditionCheck',
    key: check.key,
    condition:
      check.expect === null
        ? { text: 'attribute_not_exists(PK)', names: {}, values: {} }
        : all([{ text: 'attribute_exists(PK)', names: {}, values: {} }, ...equalities(check.expect)]),
  };
}

function guardOf(guard: NonNullable<WireWrite['guard']>): Expression {
  if ('exists' in guard) {
    return { text: `attribute_${guard.exists ? '' : 'not_'}exists(PK)`, names: {}, values: {} };
  }
  return {
    text: '#guarded = :guarded',
    names: { '#guarded': guard.attribute },
    values: { ':guarded': fromWire(guard.equals) },
  };
}

function equalities(expect: JsonObject): Expression[] {
  return Object.entries(expect).map(([attribute, value], index) => ({
    text: `#e${index} = :e${index}`,
    names: { [`#e${index}`]: attribute },
    values: { [`:e${index}`]: fromWire(value) },
  }));
}

function all(parts: readonly Expression[]): Expression {
  return {
    text: parts.map(({ text }) => text).join(' AND '),
    names: Object.assign({}, ...parts.map(({ names }) => names)),
    values: Object.assign({}, ...parts.map(({ values }) => values)),
  };
}

/**
 * SET and REMOVE with a placeholder for every attribute.
 * @param set attributes to write; undefined ones are left out
 * @param defaults attributes to write only where the item has none
 */
export function updateOf(
  set: Readonly<Record<string, unknown>>,
  remove: readonly string[] = [],
  defaults: Readonly<Record<string, unknown>> = {},
): Expression {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const assign = (attributes: Readonly<Record<string, unknown>>, tag: string, onlyIfAbsent: boolean) =>
    Object.entries(attributes)
      .filter(([, value]) => value !== undefined)
      .map(([attribute, value], index) => {
        const name = `#${tag}${index}`;
        const placeholder = `:${tag}${index}`;
        names[name] = attribute;
        values[placeholder] = value;
        return onlyIfAbsent ? `${name} = if_not_exists(${name}, ${placeholder})` : `${name} = ${placeholder}`;
      });
  const assignments = [...assign(set, 's', false), ...assign(defaults, 'd', true)];
  const removals = remove.map((attribute, index) => {
    names[`#r${index}`] = attribute;
    return `#r${index}`;
  });
  const text = [
    ...(assignments.length > 0 ? [`SET ${assignments.join(', ')}`] : []),
    ...(removals.length > 0 ? [`REMOVE ${removals.join(', ')}`] : []),
  ].join(' ');
  return { text, names, values };
}
