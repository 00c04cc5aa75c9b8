import type { KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { INDEXES, TABLE } from '../../lambdas/core/table.ts';
import { check, type Facts, faulty } from './facts.ts';

const schemaOf = (keys: readonly KeySchemaElement[] | undefined): string =>
  (keys ?? []).map(({ AttributeName }) => AttributeName).join(', ');

/** What must hold of the table, the worker's own or an imported one. */
export function tableChecks({ table, ttl, backups }: Facts) {
  return {
    active: check('The table is there and in use', table, ({ TableStatus }) => [
      TableStatus === 'ACTIVE' || TableStatus === 'UPDATING',
      TableStatus ?? 'not there',
    ]),
    keys: check(`Its keys are ${TABLE.partitionKey} and ${TABLE.sortKey}`, table, ({ KeySchema }) => [
      schemaOf(KeySchema) === `${TABLE.partitionKey}, ${TABLE.sortKey}`,
      schemaOf(KeySchema),
    ]),
    types: check('All of its keys are texts', table, ({ AttributeDefinitions = [] }) => {
      const others = AttributeDefinitions.filter(({ AttributeType }) => AttributeType !== 'S');
      return faulty(
        others.map(({ AttributeName, AttributeType }) => `${AttributeName} is of type ${AttributeType}`),
        'all',
      );
    }),
    replicas: check('It has no replica in another Region', table, ({ Replicas = [] }) =>
      faulty(
        Replicas.map(({ RegionName = 'one' }) => RegionName),
        'none',
      ),
    ),
    indexes: check(
      `It has the indexes ${Object.keys(INDEXES).join(' and ')}`,
      table,
      ({ GlobalSecondaryIndexes = [] }) => {
        const missing = Object.values(INDEXES).filter((wanted) => {
          const found = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === wanted.name);
          const keys = `${wanted.partitionKey}, ${wanted.sortKey}`;
          return found?.IndexStatus !== 'ACTIVE' || schemaOf(found.KeySchema) !== keys;
        });
        return faulty(
          missing.map(({ name }) => `${name} is not there, not active or has other keys`),
          'both active',
        );
      },
    ),
    stream: check('It streams old and new images', table, ({ StreamSpecification }) => [
      StreamSpecification?.StreamViewType === 'NEW_AND_OLD_IMAGES',
      StreamSpecification?.StreamViewType ?? 'no stream',
    ]),
    protection: check('It is protected against deletion', table, ({ DeletionProtectionEnabled = false }) => [
      DeletionProtectionEnabled,
      String(DeletionProtectionEnabled),
    ]),
    ttl: check(
      `Old rows expire by ${TABLE.ttlAttribute}`,
      ttl,
      ({ TimeToLiveStatus = 'off', AttributeName }) => [
        TimeToLiveStatus === 'ENABLED' && AttributeName === TABLE.ttlAttribute,
        `${TimeToLiveStatus}${AttributeName === undefined ? '' : `, ${AttributeName}`}`,
      ],
    ),
    backups: check('Point-in-time recovery is on', backups, ({ PointInTimeRecoveryDescription }) => [
      PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED',
      PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus ?? 'off',
    ]),
  };
}
