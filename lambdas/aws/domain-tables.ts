import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { checkDomainTables, type DomainTables, domainKey } from '../core/domain-table.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { DomainReader } from '../core/ports.ts';
import { fromItem, toItem } from './items.ts';

/** Reads aggregates that live in tables of their own. */
export function createDomainReader(client: DynamoDBClient, tables: DomainTables): DomainReader {
  const byType = checkDomainTables(tables);
  return {
    async find(aggregateType, aggregateId) {
      const domain = byType[aggregateType.toUpperCase()];
      if (domain === undefined) return undefined;
      const key = domainKey(domain, aggregateId);
      const { Item } = await client.send(
        new GetItemCommand({ TableName: domain.table, Key: toItem(key), ConsistentRead: true }),
      );
      return { domain, key, item: Item === undefined ? undefined : fromItem(Item) };
    },
  };
}

/** @throws ConfigurationError when the text is no JSON object */
export function parseDomainTables(text: string | undefined): DomainTables {
  if (text === undefined || text === '') return {};
  try {
    const tables: DomainTables = JSON.parse(text);
    return tables;
  } catch (error) {
    throw new ConfigurationError('The environment variable AGGREGATES must be JSON', { cause: error });
  }
}
