import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Envelope } from '../../../lambdas/core/envelope.ts';
import { defineMessage } from '../../../lambdas/core/message-type.ts';
import type { PayloadReader } from '../../../lambdas/core/ports.ts';
import { resolvePayload } from '../../../lambdas/plan/payload.ts';
import { probeEnvelope } from '../../helpers/probe.ts';

const NO_OBJECTS: PayloadReader = { allows: () => false, fetch: async () => ({ status: 'notFound' }) };
const envelope = (payload: Envelope['payload'], schemaVersion = 1): Envelope => ({
  ...probeEnvelope(),
  schemaVersion,
  ...(payload === undefined ? {} : { payload }),
});

const LIBRARIES = {
  zod: z.object({ amount: z.number().positive(), note: z.string().default('none') }),
  valibot: v.object({ amount: v.pipe(v.number(), v.minValue(1)), note: v.optional(v.string(), 'none') }),
  arktype: type({ amount: 'number > 0', note: "string = 'none'" }),
  'zod, asynchronously': z
    .object({ amount: z.number(), note: z.string().default('none') })
    .refine(async ({ amount }) => amount > 0, { path: ['amount'] }),
  'valibot, asynchronously': v.objectAsync({
    amount: v.pipeAsync(
      v.number(),
      v.checkAsync(async (amount) => amount > 0),
    ),
    note: v.optional(v.string(), 'none'),
  }),
};

describe.each(Object.entries(LIBRARIES))('a schema of %s', (_name, schema) => {
  const definition = {
    ...defineMessage({ type: 'Probe', ordering: 'none', schemas: { 1: schema }, plan: () => ({}) }),
  };

  it('gives the validated payload with its defaults', async () => {
    const payload = await resolvePayload(
      { envelope: envelope({ amount: 5 }) },
      { ...definition, plan: () => ({}) },
      NO_OBJECTS,
    );

    expect(payload).toEqual({ amount: 5, note: 'none' });
  });

  it('refuses another one by its path, without its value', async () => {
    const resolving = resolvePayload(
      { envelope: envelope({ amount: -4711 }) },
      { ...definition, plan: () => ({}) },
      NO_OBJECTS,
    );

    await expect(resolving).rejects.toMatchObject({
      kind: 'terminal',
      code: 'INVALID_PAYLOAD',
      message: 'schema 1: $.payload.amount is not as the schema wants it',
    });
  });
});

describe('schema versions', () => {
  const schemas = {
    1: v.object({ name: v.string() }),
    2: v.object({ first: v.string(), last: v.string() }),
    3: v.object({ last: v.pipe(v.string(), v.minLength(1)) }),
  };
  const definition = {
    ...defineMessage({
      type: 'Probe',
      ordering: 'none',
      schemas,
      upcast: {
        1: ({ name }: { name: string }) => ({ first: name.split(' ')[0], last: name.split(' ')[1] ?? '' }),
        2: ({ last }: { last: string }) => ({ last }),
      },
      plan: () => ({}),
    }),
    plan: () => ({}),
  };

  it.each([
    [1, { name: 'Ada Lovelace' }],
    [2, { first: 'Ada', last: 'Lovelace' }],
    [3, { last: 'Lovelace' }],
  ])('lifts a payload of version %i to the newest', async (version, payload) => {
    expect(await resolvePayload({ envelope: envelope(payload, version) }, definition, NO_OBJECTS)).toEqual({
      last: 'Lovelace',
    });
  });

  it('validates what was lifted', async () => {
    await expect(
      resolvePayload({ envelope: envelope({ name: 'Ada' }, 1) }, definition, NO_OBJECTS),
    ).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('schema 3: $.payload.last'),
    });
  });

  it('names the versions that are deployed', async () => {
    await expect(resolvePayload({ envelope: envelope({}, 4) }, definition, NO_OBJECTS)).rejects.toMatchObject(
      { code: 'UNKNOWN_SCHEMA_VERSION', message: expect.stringContaining('1, 2, 3') },
    );
  });
});
