import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Clock } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import { type InFlightChange, partOf, partsOf, registerKey, roomOfPart } from '../core/in-flight.ts';
import { type Row, textOf } from '../core/ports.ts';
import { inboxKey } from '../core/table.ts';
import { type Environment, requireEnv, requireNumber } from './env.ts';
import { fromItem, toItem } from './items.ts';
import { createRowReader } from './rows.ts';

/** Places looked at in one go. */
const MAX_REVIEWED = 200;

/** A key at work, and since when (epoch seconds). */
export interface InFlightEntry {
  readonly part: number;
  readonly key: string;
  readonly since: number;
}

/** The register of the keys at work. */
export interface InFlightRegister {
  /** How many more executions may start now. */
  room(): Promise<number>;
  /** Takes a place for the key; false when its part of the register is full. A key that has one keeps it. */
  take(key: string): Promise<boolean>;
  /** Applies what the table's changes mean, room or not. */
  apply(changes: readonly InFlightChange[]): Promise<void>;
  /** Releases the keys whose inbox rows are final or gone. */
  releaseFinal(keys: readonly string[]): Promise<number>;
  /**
   * Releases what was taken before an instant (epoch seconds) and is no longer at work: its row is final or gone, its
   * execution was never started, or it lies where another limit put it.
   * @returns how many
   */
  releaseStale(before: number, isKnown: (executionName: string) => Promise<boolean>): Promise<number>;
  entries(): Promise<readonly InFlightEntry[]>;
}

export interface InFlightOptions {
  readonly tableName: string;
  readonly worker: string;
  /** From 1. */
  readonly limit: number;
  readonly clock: Clock;
}

/**
 * The register that the environment asks for; undefined when MAX_IN_FLIGHT is not set.
 * @throws ConfigurationError naming the variable that is missing or wrong
 */
export function createLimit(
  env: Environment,
  surroundings: { readonly clock: Clock; readonly clients: { readonly dynamodb: DynamoDBClient } },
): InFlightRegister | undefined {
  if ((env.MAX_IN_FLIGHT ?? '') === '') return undefined;
  const limit = requireNumber(env, 'MAX_IN_FLIGHT');
  if (!Number.isInteger(limit) || limit < 1) {
    throw new ConfigurationError('MAX_IN_FLIGHT must be a whole number from 1');
  }
  return createInFlightRegister(surroundings.clients.dynamodb, {
    tableName: requireEnv(env, 'TABLE_NAME'),
    worker: requireEnv(env, 'WORKER_NAME'),
    limit,
    clock: surroundings.clock,
  });
}

/** The register in the worker's table. */
export function createInFlightRegister(
  client: DynamoDBClient,
  { tableName, worker, limit, clock }: InFlightOptions,
): InFlightRegister {
  const parts = partsOf(limit);
  const rows = createRowReader(client, tableName);
  const since = () => Math.floor(clock.now() / 1000);

  async function entries(): Promise<InFlightEntry[]> {
    const found = await rows.read(Array.from({ length: parts }, (_, part) => registerKey(part)));
    return found.flatMap((row, part) =>
      Object.entries(liveOf(row)).map(([key, at]) => ({ part, key, since: Number(at) })),
    );
  }

  /** @returns 'refused' with the part as it stands; undefined when there is none yet */
  async function update(
    part: number,
    text: string,
    condition: string,
    names: Record<string, string>,
    values: Row,
  ): Promise<'done' | { readonly refused: Row | undefined }> {
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: toItem({ ...registerKey(part) }),
          UpdateExpression: text,
          ConditionExpression: condition,
          ExpressionAttributeNames: { '#live': 'live', ...names },
          ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: toItem(values) }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'done';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { refused: error.Item === undefined ? undefined : fromItem(error.Item) };
    }
  }

  async function create(part: number): Promise<void> {
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: toItem({ ...registerKey(part), live: {} }),
          ConditionExpression: 'attribute_not_exists(PK)',
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  async function applyToPart(part: number, changes: readonly InFlightChange[]): Promise<void> {
    const names = Object.fromEntries(changes.map(({ key }, index) => [`#k${index}`, key]));
    const paths = (kind: InFlightChange['change']) =>
      changes.flatMap(({ change }, index) => (change === kind ? [`#live.#k${index}`] : []));
    const takes = paths('take').map((path) => `${path} = :since`);
    const releases = paths('release');
    const text = [
      ...(takes.length > 0 ? [`SET ${takes.join(', ')}`] : []),
      ...(releases.length > 0 ? [`REMOVE ${releases.join(', ')}`] : []),
    ].join(' ');
    const values: Row = takes.length > 0 ? { ':since': since() } : {};
    const write = () => update(part, text, 'attribute_exists(#live)', names, values);
    // A part that is not there holds nothing to release.
    if ((await write()) === 'done' || takes.length === 0) return;
    await create(part);
    await write();
  }

  async function apply(changes: readonly InFlightChange[]): Promise<void> {
    const byPart = new Map<number, InFlightChange[]>();
    for (const change of changes) {
      const part = partOf(change.key, parts);
      byPart.set(part, [...(byPart.get(part) ?? []), change]);
    }
    for (const [part, own] of byPart) await applyToPart(part, own);
  }

  async function isStale(
    { key, part }: InFlightEntry,
    row: Row | undefined,
    isKnown: (executionName: string) => Promise<boolean>,
  ): Promise<boolean> {
    const status = textOf(row, 'status');
    if (isFinal(status) || partOf(key, parts) !== part) return true;
    return status === 'RECEIVED' && !(await isKnown(textOf(row, 'executionName') ?? ''));
  }

  return {
    entries,
    apply,
    async releaseStale(before, isKnown) {
      const old = (await entries()).filter(({ since }) => since < before).slice(0, MAX_REVIEWED);
      const inbox = await rows.read(old.map(({ key }) => inboxKey(key, worker)));
      let released = 0;
      for (const [index, entry] of old.entries()) {
        if (!(await isStale(entry, inbox[index], isKnown))) continue;
        await applyToPart(entry.part, [{ key: entry.key, change: 'release', look: false }]);
        released += 1;
      }
      return released;
    },
    async room() {
      return Math.max(0, limit - (await entries()).length);
    },
    async take(key) {
      const part = partOf(key, parts);
      const write = () =>
        update(
          part,
          'SET #live.#key = :since',
          'attribute_exists(#live.#key) OR size(#live) < :room',
          { '#key': key },
          { ':since': since(), ':room': roomOfPart(part, limit) },
        );
      const first = await write();
      if (first === 'done') return true;
      if (first.refused !== undefined) return false;
      await create(part);
      return (await write()) === 'done';
    },
    async releaseFinal(keys) {
      const inbox = await rows.read(keys.map((key) => inboxKey(key, worker)));
      const final = keys.filter((_key, index) => isFinal(textOf(inbox[index], 'status')));
      await apply(final.map((key) => ({ key, change: 'release', look: false })));
      return final.length;
    },
  };
}

const isFinal = (status: string | undefined): boolean =>
  status === undefined || status === 'COMPLETED' || status === 'FAILED_TERMINAL';

function liveOf(row: Row | undefined): Readonly<Record<string, unknown>> {
  const live = row?.live;
  return typeof live === 'object' && live !== null ? { ...live } : {};
}
