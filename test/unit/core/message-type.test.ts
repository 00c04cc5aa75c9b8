import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createManifest, createRegistry } from '../../../lambdas/core/manifest.ts';
import { defineMessage } from '../../../lambdas/core/message-type.ts';
import { probe } from '../../helpers/probe.ts';

const any = v.unknown();

describe('defineMessage', () => {
  const base = { type: 'Probe', ordering: 'none', schemas: { 1: any }, plan: () => ({}) } as const;
  const lift = () => ({});

  it.each([
    ['a type with a dash', () => defineMessage({ ...base, type: 'Pro-be' }), 'type must match'],
    ['no schema', () => defineMessage({ ...base, schemas: {} }), 'schemas must hold at least one version'],
    [
      'schema 0',
      () => defineMessage({ ...base, schemas: { 0: any } }),
      'must be keyed by whole numbers from 1',
    ],
    [
      'an upcast without its schema',
      () => defineMessage({ ...base, upcast: { 3: lift } }),
      'upcast 3 has no schema 3',
    ],
    [
      'an upcast to nowhere',
      () => defineMessage({ ...base, upcast: { 1: lift } }),
      'upcast 1 needs a schema 2',
    ],
    ['a stream with a space', () => defineMessage({ ...base, stream: 'a b' }), 'stream must match'],
    ['no attempts', () => defineMessage({ ...base, attempts: { max: 0 } }), 'attempts.max must be'],
    ['101 attempts', () => defineMessage({ ...base, attempts: { max: 101 } }), 'attempts.max must be'],
    [
      'a base of 0',
      () => defineMessage({ ...base, attempts: { baseSeconds: 0 } }),
      'baseSeconds must be above 0',
    ],
    [
      'a cap below the base',
      () => defineMessage({ ...base, attempts: { baseSeconds: 9, capSeconds: 1 } }),
      'attempts.capSeconds must not be below',
    ],
    [
      'a gap time-out of 0',
      () => defineMessage({ ...base, gapTimeoutSeconds: 0 }),
      'gapTimeoutSeconds must be above 0',
    ],
  ])('refuses %s', (_what, define, fault) => {
    expect(define).toThrow(fault);
  });

  it('names every fault at once', () => {
    const define = () =>
      defineMessage({ type: '', ordering: 'none', schemas: {}, attempts: { max: 0 }, plan: () => ({}) });

    expect(define).toThrow(/type must match.*schemas must hold.*attempts\.max/);
  });
});

describe('createRegistry', () => {
  const plan = () => ({});

  it('refuses one type twice', () => {
    expect(() => createRegistry([probe(plan), probe(plan)])).toThrow('Probe is defined twice');
  });

  it('refuses two orderings of one stream, also under a default stream name', () => {
    const other = probe(plan, { type: 'Other', stream: 'Probe', ordering: 'latest' });

    expect(() => createRegistry([probe(plan), other])).toThrow('the types of one stream share one ordering');
  });

  it('refuses a worker without types', () => {
    expect(() => createRegistry([])).toThrow('at least one message type');
  });
});

describe('createManifest', () => {
  const digest = (settings: Parameters<typeof probe>[1]) =>
    createManifest(createRegistry([probe(() => ({}), settings)])).digest;

  it('changes its digest with everything that the starter goes by', () => {
    const digests = [
      digest({}),
      digest({ ordering: 'latest' }),
      digest({ stream: 'Other' }),
      digest({ attempts: { max: 2 } }),
      digest({ executionNames: 'digest' }),
      digest({ data: 'reference' }),
      digest({ onPredecessorFailure: 'skip' }),
    ];

    expect(new Set(digests).size).toBe(digests.length);
    expect(digest({})).toBe(digests[0]);
  });
});
