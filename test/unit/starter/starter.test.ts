import { describe, expect, it } from 'vitest';
import { createManifest, createRegistry } from '../../../lambdas/core/manifest.ts';
import type { Source } from '../../../lambdas/core/sources.ts';
import { SILENT } from '../../../lambdas/core/telemetry.ts';
import type { QueueRecord } from '../../../lambdas/starter/record.ts';
import { UNLIMITED } from '../../../lambdas/starter/start.ts';
import { MIN_REMAINING_MILLIS, type StarterDeps, startBatch } from '../../../lambdas/starter/starter.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';
import { probe, probeEnvelope } from '../../helpers/probe.ts';

const ENOUGH = () => MIN_REMAINING_MILLIS;

function record(id: string, overrides: Partial<QueueRecord> = {}): QueueRecord {
  return {
    messageId: id,
    receiptHandle: `handle-${id}`,
    body: JSON.stringify(probeEnvelope({ idempotencyKey: id })),
    attributes: {},
    receiveCount: 1,
    sentAt: 0,
    queueArn: 'arn:aws:sqs:us-east-1:000000000000:q',
    ...overrides,
  };
}

interface Starter {
  readonly deps: StarterDeps;
  readonly started: string[];
  readonly kept: string[];
  readonly hidden: number[];
}

function starter(overrides: Partial<StarterDeps> = {}): Starter {
  const started: string[] = [];
  const kept: string[] = [];
  const hidden: number[] = [];
  const deps: StarterDeps = {
    clock: createVirtualClock(),
    random: () => 0.5,
    worker: 'w',
    manifest: createManifest(createRegistry([probe(() => ({}))])),
    sources: [],
    inbox: { admit: async () => ({}), countDelivery: async () => {}, recordConflict: async () => {} },
    inFlight: UNLIMITED,
    startExecution: async (name) => {
      started.push(name.slice(0, name.indexOf('-')));
      return 'started';
    },
    offload: async () => ({ bucket: 'b', key: 'k', sha256: 'a'.repeat(64) }),
    rejected: {
      keep: async (_record, { code, reason }) => {
        kept.push(`${code} ${reason}`);
      },
    },
    invalidReceives: 1,
    maxDeferSeconds: 3600,
    backOff: async (_record, seconds) => {
      hidden.push(seconds);
    },
    reportFailedBatch: async () => {},
    telemetry: SILENT,
    ...overrides,
  };
  return { deps, started, kept, hidden };
}

const statuses = (results: readonly PromiseSettledResult<void>[]) => results.map(({ status }) => status);

describe('startBatch', () => {
  it('takes up nothing more when too little time is left, and reports the rest as failed', async () => {
    const { deps, started } = starter();
    let left = 2;
    const remaining = () => {
      left -= 1;
      return left >= 0 ? MIN_REMAINING_MILLIS : MIN_REMAINING_MILLIS - 1;
    };

    const results = await startBatch(
      ['a', 'b', 'c'].map((id) => record(id)),
      remaining,
      deps,
    );

    expect(statuses(results)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(started).toEqual(['a', 'b']);
  });

  it('takes an unknown error as a failed record, hidden with back-off, and goes on', async () => {
    const { deps, hidden } = starter({
      startExecution: async (name) => {
        if (name.startsWith('b-')) throw new Error('strange');
        return 'started';
      },
    });

    const results = await startBatch(
      ['a', 'b', 'c'].map((id) => record(id, { receiveCount: 4 })),
      ENOUGH,
      deps,
    );

    expect(statuses(results)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(hidden).toEqual([8]);
  });

  it('keeps a record in the queue when its rejection could not be kept', async () => {
    const { deps } = starter({
      rejected: {
        keep: async () => {
          throw new Error('SQS is down');
        },
      },
    });

    expect(statuses(await startBatch([record('a', { body: '{' })], ENOUGH, deps))).toEqual(['rejected']);
  });

  it('does not mind that a record cannot be hidden', async () => {
    const { deps } = starter({
      startExecution: async () => {
        throw new Error('throttled');
      },
      backOff: async () => {
        throw new Error('denied');
      },
    });

    expect(statuses(await startBatch([record('a')], ENOUGH, deps))).toEqual(['rejected']);
  });

  it('takes the records of a FIFO group one after the other, groups side by side, none behind a failure', async () => {
    const log: string[] = [];
    const slow = Promise.withResolvers<void>();
    const { deps } = starter({
      async startExecution(name) {
        const id = name.slice(0, name.indexOf('-'));
        log.push(id);
        if (id === 'a1') await slow.promise;
        if (id === 'b1') slow.resolve();
        if (id === 'a2') throw new Error('throttled');
        return 'started';
      },
    });
    const queueArn = 'arn:aws:sqs:us-east-1:000000000000:q.fifo';

    const results = await startBatch(
      ['a1', 'a2', 'a3', 'b1', 'b2'].map((id) => record(id, { queueArn, groupId: id.slice(0, 1) })),
      ENOUGH,
      deps,
    );

    expect(statuses(results)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled']);
    expect(log.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2']);
    // The group that is behind a slow one is not.
    expect(log.indexOf('b1')).toBeLessThan(log.indexOf('a2'));
  });

  it.each([
    ['the first receive', 1],
    ['the ninetieth', 90],
  ])(
    'refuses what there is no room for with a floor of 30 seconds at %s, and writes nothing',
    async (_at, receiveCount) => {
      const { deps, hidden, started, kept } = starter({
        inFlight: { ...UNLIMITED, room: async () => 0 },
        random: () => 0,
      });

      const results = await startBatch([record('a', { receiveCount })], ENOUGH, deps);

      expect(statuses(results)).toEqual(['rejected']);
      expect(hidden).toEqual([30]);
      expect([...started, ...kept]).toEqual([]);
    },
  );

  it('takes MessageGroupId on a standard queue for fairness, not for order', async () => {
    const { deps } = starter({
      startExecution: async (name) => {
        if (name.startsWith('a-')) throw new Error('throttled');
        return 'started';
      },
    });

    const results = await startBatch(
      ['a', 'b'].map((id) => record(id, { groupId: 'g' })),
      ENOUGH,
      deps,
    );

    expect(statuses(results)).toEqual(['rejected', 'fulfilled']);
  });
});

describe('the line of a refused message', () => {
  const refused = async (settings: Parameters<typeof probe>[1], body: string) => {
    const lines: object[] = [];
    const { deps, kept } = starter({
      manifest: createManifest(createRegistry([probe(() => ({}), settings)])),
      telemetry: { ...SILENT, warn: (_message, fields) => void lines.push(fields) },
    });
    await startBatch([record('a', { body })], ENOUGH, deps);
    expect(kept).toHaveLength(1);
    return lines;
  };
  const body = JSON.stringify(probeEnvelope({ idempotencyKey: 'a-key', correlationId: 'c-1' }));

  it('names key and correlation, by which the runbook looks for it', async () => {
    expect(await refused({ ordering: 'latest' }, body)).toEqual([
      expect.objectContaining({ code: 'INVALID_ENVELOPE', idempotencyKey: 'a-key', correlationId: 'c-1' }),
    ]);
  });

  it.each([
    ['of a type with personal data', { ordering: 'latest', data: 'reference' }, body],
    ['of a type that is not known', {}, body.replace('"Probe"', '"Other"')],
    ['that cannot be read', {}, body.slice(1)],
  ] as const)('%s quotes nothing of it', async (_what, settings, text) => {
    const lines = JSON.stringify(await refused(settings, text));

    expect(lines).toContain('"code"');
    expect(lines).not.toMatch(/a-key|c-1/);
  });
});

describe('a source', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const source = (toEnvelope: Source['toEnvelope']): readonly Source[] => [{ name: 'strange', toEnvelope }];

  it.each([
    ['a cycle', () => cyclic, 'was refused by source strange (TypeError)'],
    [
      'a bigint',
      () => probeEnvelope({ payload: { value: 1n } }),
      'was refused by source strange (TypeError)',
    ],
    ['a lone surrogate', () => probeEnvelope({ payload: { value: '\uD800' } }), 'lone surrogate'],
    ['a number beyond 2^53', () => probeEnvelope({ payload: { value: 1e300 } }), '2^53'],
    ['a function', () => () => {}, 'must not be empty'],
    ['null', () => null, 'must be an object'],
    ['a promise', async () => probeEnvelope(), 'was refused by source strange (TypeError)'],
    [
      'a promise that is rejected',
      () => Promise.reject(new Error('SECRET')),
      'was refused by source strange (TypeError)',
    ],
    [
      'what it throws',
      () => {
        throw new SyntaxError('SECRET');
      },
      'was refused by source strange (SyntaxError)',
    ],
  ])('that gives %s makes an invalid message and no endless one', async (_what, build, reason) => {
    const { deps, kept } = starter({ sources: source(build) });

    expect(statuses(await startBatch([record('a')], ENOUGH, deps))).toEqual(['fulfilled']);
    expect(kept).toEqual([expect.stringContaining(reason)]);
    expect(kept.join()).not.toContain('SECRET');
    // A rejection that nobody holds would end the process, and with it the batch.
    await new Promise(setImmediate);
  });
});
