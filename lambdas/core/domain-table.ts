import { ConfigurationError } from './errors.ts';
import type { JsonObject } from './json.ts';

/** A table of the domain that was there before the worker, in the same account and Region. */
export interface DomainTable {
  /** The table's name. */
  readonly table: string;
  /**
   * How an aggregate's item is found: the name of a string partition key that holds the aggregate id, or a template
   * for each key attribute, e.g. `{ pk: 'CASE#{aggregateId}', sk: 'CASE' }`.
   */
  readonly key: string | Readonly<Record<string, string>>;
  /** A number that every writer of the table counts up on condition that it is as read. */
  readonly versionAttribute: string;
}

/** Domain tables by aggregate type. Types are compared in upper case. */
export type DomainTables = Readonly<Record<string, DomainTable>>;

/** What a plan changes in a domain table, and what must still hold there. */
export interface DomainChange {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
  readonly versionAttribute: string;
  /** The version that Plan read; null when the item had none. */
  readonly version: number | null;
  /** Whether there was an item. */
  readonly exists: boolean;
  readonly set: JsonObject;
  readonly remove: readonly string[];
}

const PLACEHOLDER = '{aggregateId}';

/**
 * Checks the tables, with their types in upper case.
 * @throws ConfigurationError naming every fault
 */
export function checkDomainTables(tables: DomainTables): DomainTables {
  const faults: string[] = [];
  const checked: Record<string, DomainTable> = {};
  for (const [type, domain] of Object.entries(tables)) {
    const name = type.toUpperCase();
    if (checked[name] !== undefined) faults.push(`${type} is given twice`);
    checked[name] = domain;
    const key = keyTemplates(domain);
    if (domain.table === '') faults.push(`${type}.table is empty`);
    if (domain.versionAttribute === '') faults.push(`${type}.versionAttribute is empty`);
    if (Object.keys(key).length === 0 || Object.keys(key).length > 2) {
      faults.push(`${type}.key must name one or two attributes`);
    }
    if (!Object.values(key).some((template) => template.includes(PLACEHOLDER))) {
      faults.push(`${type}.key must hold ${PLACEHOLDER}, or all aggregates are one item`);
    }
    if (Object.hasOwn(key, domain.versionAttribute)) {
      faults.push(`${type}.versionAttribute must not be part of the key`);
    }
  }
  if (faults.length > 0) throw new ConfigurationError(`aggregates: ${faults.join('; ')}`);
  return checked;
}

const keyTemplates = ({ key }: DomainTable): Readonly<Record<string, string>> =>
  typeof key === 'string' ? { [key]: PLACEHOLDER } : key;

/** The key of an aggregate's item. */
export const domainKey = (domain: DomainTable, aggregateId: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(keyTemplates(domain)).map(([name, template]) => [
      name,
      template.replaceAll(PLACEHOLDER, () => aggregateId),
    ]),
  );
