import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import type { LogFields, Telemetry } from '../../lambdas/core/telemetry.ts';
import { LOG_QUERIES, type LogQueryName, queryLines } from '../../lib/constructs/worker-queries.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { abort, reconcile, SWEEP, untilIn } from '../helpers/reconciler.ts';
import { startWorker } from '../helpers/worker.ts';

type Line = LogFields & { readonly message: string };

function recorder() {
  const lines: Line[] = [];
  const keep = (message: string, fields: LogFields) => void lines.push({ ...fields, message });
  const telemetry: Telemetry = { info: keep, warn: keep, error: keep, metric() {}, flush() {} };
  return { lines, telemetry };
}

const NAMES: readonly LogQueryName[] = [
  'one-key',
  'failed-several-times',
  'hot-aggregate',
  'hot-tenant',
  'failures-by-release',
];
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a producer’s traceparent', () => {
  it.each([
    ['the envelope', { traceparent: TRACE }, {}],
    ['the message’s attribute', {}, { traceparent: TRACE }],
  ])(
    'goes from %s into every line about the message, and to the provider',
    async (_from, own, attributes) => {
      const { lines, telemetry } = recorder();
      const traces: unknown[] = [];
      const provider = defineProvider({
        name: 'Mail',
        operations: {
          send: {
            schema: v.object({}),
            idempotent: true,
            async execute({ traceparent }) {
              traces.push(traceparent);
              return { reference: 'sent' };
            },
            classify: () => ({ done: 'unknown', code: 'NO_ANSWER' }),
          },
        },
      });
      const asks = probe(
        ({ effects }) => {
          if (effects.mail !== undefined) throw new TerminalFailure('NEVER');
          return { effects: [{ name: 'mail', provider: 'Mail', operation: 'send', request: {} }] };
        },
        { failureCodes: ['NEVER'] },
      );
      const worker = await startWorker({ telemetry, messages: [asks], providers: [provider] });

      await worker.send(probeEnvelope(own), { attributes });
      await worker.untilIdle();

      expect(traces).toEqual([TRACE]);
      expect([...new Set(lines.map(({ message }) => message))].sort()).toEqual([
        'effect_called',
        'message_failed',
        'message_planned',
        'message_started',
      ]);
      for (const line of lines)
        expect(line).toMatchObject({ traceparent: TRACE, executionName: expect.any(String) });
    },
  );
});

describe('a saved query', () => {
  async function runEverything() {
    const { lines, telemetry } = recorder();
    const parks = probe(() => ({ set: { seen: true } }), { type: 'Parks', ordering: 'sequential' });
    const fails = probe(() => {
      throw new TerminalFailure('NEVER');
    });
    const left = [new RetryableFailure('NOT_YET'), new TypeError('a bug')];
    const stumbles = probe(
      () => {
        const failure = left.shift();
        if (failure !== undefined) throw failure;
        return { set: { seen: true } };
      },
      { type: 'Stumbles' },
    );
    const worker = await startWorker({ telemetry, messages: [parks, fails, stumbles] });
    await worker.send(probeEnvelope({ messageType: 'Stumbles', idempotencyKey: 'stumbles' }));
    await worker.untilIdle();
    await worker.send(probeEnvelope({ tenantId: 'ana' }));
    await worker.untilIdle();
    await worker.send(
      probeEnvelope({
        messageType: 'Parks',
        idempotencyKey: 'parks',
        aggregateVersion: 2,
        traceparent: TRACE,
      }),
    );
    await untilIn(worker, 'parks', 'Park');
    await abort(worker, 'parks');
    await reconcile(worker, SWEEP);
    return lines.map((line) => ({ ...line, release: 'r', service: 'w', '@timestamp': '', '@logStream': '' }));
  }
  let ran: ReturnType<typeof runEverything> | undefined;
  const everything = () => {
    ran ??= runEverything();
    return ran;
  };

  it.each(NAMES)('%s asks for what is written', async (name) => {
    const written = await everything();
    const text = queryLines(name).join('\n');
    const [, names = ''] = /filter message (?:=|in) (\[[^\]]*\]|"\w+")/.exec(text) ?? [];
    const messages = [...names.matchAll(/"(\w+)"/g)].map(([, message = '']) => message);
    const fields = [
      ...text.matchAll(/(?:ispresent|latest)\(([\w@]+)\)/g),
      ...(/ by ([\w, ]+)/.exec(text)?.[1] ?? '').matchAll(/(\w+)/g),
    ].map(([, field = '']) => field);

    for (const message of messages) {
      const found = written.filter((line) => line.message === message);
      expect(found.length, message).toBeGreaterThan(0);
      for (const field of fields) {
        expect(
          found.some((line) => Object(line)[field] !== undefined),
          `${message} has ${field}`,
        ).toBe(true);
      }
    }
    for (const field of fields) expect(written.some((line) => Object(line)[field] !== undefined)).toBe(true);
  });

  it('finds the trace of an execution that was stopped', async () => {
    const abandoned = (await everything()).filter(({ message }) => message === 'execution_abandoned');
    expect(abandoned.map(({ traceparent }) => traceparent)).toEqual([TRACE]);
  });

  it('counts an attempt that failed by its result, with execution and code', async () => {
    const text = queryLines('failed-several-times').join('\n');
    const [, results = ''] = /result in (\[[^\]]*\])/.exec(text) ?? [];
    const attempts = (await everything()).filter(
      ({ message, result = '' }) => message === 'message_planned' && results.includes(`"${result}"`),
    );
    expect(attempts.map(({ code }) => code)).toEqual(['NOT_YET', 'TypeError']);
    for (const line of attempts) expect(line).toHaveProperty('executionName', expect.any(String));
  });

  it('has a case here', () => {
    expect([...NAMES].sort()).toEqual(Object.keys(LOG_QUERIES).sort());
  });
});
