import type { DomainChange } from './domain-table.ts';
import { type Expression, type TransactionItem, updateOf } from './transaction.ts';
import { recordFromWire } from './wire.ts';

/**
 * The action on a domain table.
 *
 * - `#version = :version`: no other writer counted it up since Plan read it
 * - item without a version: it is still there and still has none
 * - no item: still none, so that a plan which creates it never writes over another's
 *
 * A plan that changes nothing there checks and does not write.
 */
export function domainItem(change: DomainChange): TransactionItem {
  const { table, key, set, remove } = change;
  const condition = guardOf(change);
  if (Object.keys(set).length === 0 && remove.length === 0) {
    return { action: 'ConditionCheck', table, key, condition };
  }
  const next = { ...recordFromWire(set), [change.versionAttribute]: (change.version ?? 0) + 1 };
  return { action: 'Update', table, key, update: updateOf(next, remove), condition };
}

function guardOf({ key, versionAttribute, version, exists }: DomainChange): Expression {
  const [partitionKey = ''] = Object.keys(key);
  const item = { '#item': partitionKey };
  if (!exists) return { text: 'attribute_not_exists(#item)', names: item, values: {} };
  const names = { '#version': versionAttribute };
  if (version !== null) return { text: '#version = :version', names, values: { ':version': version } };
  return {
    text: 'attribute_exists(#item) AND attribute_not_exists(#version)',
    names: { ...item, ...names },
    values: {},
  };
}
