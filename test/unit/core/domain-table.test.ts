import { describe, expect, it } from 'vitest';
import { checkDomainTables, domainKey } from '../../../lambdas/core/domain-table.ts';

const cases = { table: 'cases', key: 'caseId', versionAttribute: 'rev' };

describe('domainKey', () => {
  it('takes a partition key by name, or a template for each attribute', () => {
    expect(domainKey(cases, 'C-1')).toEqual({ caseId: 'C-1' });
    expect(domainKey({ ...cases, key: { pk: 'CASE#{aggregateId}', sk: 'CASE' } }, 'C-$&')).toEqual({
      pk: 'CASE#C-$&',
      sk: 'CASE',
    });
  });
});

describe('checkDomainTables', () => {
  it('takes types in any case', () => {
    expect(checkDomainTables({ case: cases })).toEqual({ CASE: cases });
  });

  it.each([
    [{ case: cases, Case: cases }, /given twice/],
    [{ case: { ...cases, key: { pk: 'CASE' } } }, /all aggregates are one item/],
    [{ case: { ...cases, key: {} } }, /one or two attributes/],
    [{ case: { ...cases, versionAttribute: 'caseId' } }, /part of the key/],
    [
      { case: { ...cases, versionAttribute: '', table: '' } },
      /table is empty; case.versionAttribute is empty/,
    ],
  ])('refuses %j', (tables, message) => {
    expect(() => checkDomainTables(tables)).toThrow(message);
  });
});
