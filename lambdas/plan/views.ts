import type { WireCheck } from '../core/decision.ts';
import { FAILURE_CODES, TerminalFailure } from '../core/errors.ts';
import type { AggregateView } from '../core/message-type.ts';
import { versionAttribute } from '../core/ordering.ts';
import { numberOf, type Row } from '../core/ports.ts';
import { isWorkersAttribute } from '../core/table.ts';
import { toWire } from '../core/wire.ts';

/** The aggregate as a handler sees it: without what only the worker writes. */
export function viewOf(row: Row | undefined, stream: string): AggregateView | undefined {
  if (row === undefined) return undefined;
  const attributes = Object.fromEntries(Object.entries(row).filter(([name]) => !isWorkersAttribute(name)));
  const revision = numberOf(row, 'revision') ?? 0;
  return { attributes, revision, version: numberOf(row, versionAttribute(stream)) ?? 0 };
}

/** An item with a revision is unchanged while its revision is; any other while all of its attributes are. */
export function checkOf(key: { PK: string; SK: string }, item: Row | undefined): WireCheck {
  if (item === undefined) return { key, expect: null };
  const revision = numberOf(item, 'revision');
  if (revision !== undefined) return { key, expect: { revision } };
  const { PK: _pk, SK: _sk, ...attributes } = item;
  try {
    const wire = Object.entries(attributes).map(([name, value]) => [name, toWire(value, name)] as const);
    return { key, expect: Object.fromEntries(wire) };
  } catch (error) {
    throw new TerminalFailure(
      FAILURE_CODES.PLAN_INVALID,
      `reads: an item without a revision is compared attribute by attribute; ${error instanceof Error ? error.message : ''}`,
    );
  }
}
