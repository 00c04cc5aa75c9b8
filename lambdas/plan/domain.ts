import type { DomainChange } from '../core/domain-table.ts';
import { FAILURE_CODES, TerminalFailure } from '../core/errors.ts';
import type { AggregateView } from '../core/message-type.ts';
import type { WirePlan } from '../core/plan-checks.ts';
import type { DomainItem } from '../core/ports.ts';

/** Attributes of a domain item that a plan must not set: its key and its version. */
export const domainAttributes = ({ domain, key }: DomainItem): readonly string[] => [
  ...Object.keys(key),
  domain.versionAttribute,
];

/** A domain item as a handler sees it: without key and version attribute. */
export function domainView(found: DomainItem, streamVersion: number): AggregateView | undefined {
  if (found.item === undefined) return undefined;
  const own = domainAttributes(found);
  const attributes = Object.fromEntries(Object.entries(found.item).filter(([name]) => !own.includes(name)));
  return { attributes, revision: versionOf(found) ?? 0, version: streamVersion };
}

/** What a plan changes in the domain table. */
export function domainChange(found: DomainItem, plan: Pick<WirePlan, 'set' | 'remove'>): DomainChange {
  return {
    table: found.domain.table,
    key: found.key,
    versionAttribute: found.domain.versionAttribute,
    version: versionOf(found),
    exists: found.item !== undefined,
    set: plan.set,
    remove: plan.remove,
  };
}

function versionOf({ domain, item }: DomainItem): number | null {
  const version = item?.[domain.versionAttribute];
  if (version === undefined) return null;
  if (typeof version === 'number') return version;
  throw new TerminalFailure(
    FAILURE_CODES.PLAN_INVALID,
    `aggregates: ${domain.versionAttribute} of an item in ${domain.table} must be a whole number below 2^53`,
  );
}
