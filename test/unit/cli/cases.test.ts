import { describe, expect, it } from 'vitest';
import { close, list, showCase } from '../../../cli/commands/quarantine.ts';
import { show } from '../../../cli/commands/show.ts';
import { TerminalFailure } from '../../../lambdas/core/errors.ts';
import { probe, probeEnvelope } from '../../helpers/probe.ts';
import { cases } from '../../helpers/reconciler.ts';
import { startWorker } from '../../helpers/worker.ts';
import { targetOf, testIo } from './cli-io.ts';

const never = probe(() => {
  throw new TerminalFailure('NEVER', 'it cannot be done');
});

async function withCase() {
  const worker = await startWorker({ messages: [never] });
  await worker.send(probeEnvelope());
  await worker.untilIdle();
  const io = testIo({ clock: worker.clock });
  await list({ since: '24h', closed: false, json: true }, targetOf(worker), io);
  const [{ id }]: [{ id: string }] = JSON.parse(io.lines.at(-1) ?? '[]');
  return { worker, io, id, target: targetOf(worker) };
}

describe('stepwell quarantine', () => {
  it('shows a case with why, how often, where, and the message itself', async () => {
    const { worker, io, id, target } = await withCase();

    expect(await showCase(id, target, io)).toBe(0);

    const { arn } = await worker.execution('probe:1');
    const shown = JSON.parse(io.lines.at(-1) ?? '{}');
    expect(shown).toMatchObject({
      code: 'NEVER',
      reason: 'NEVER',
      message: 'it cannot be done',
      attempts: 1,
      executionArn: arn,
      row: { envelope: expect.stringContaining('"probe:1"') },
    });
  });

  it('keeps a closed case with who closed it and why', async () => {
    const { worker, io, id, target } = await withCase();

    await close(id, { reason: 'refunded by hand', by: 'ani' }, target, io);

    expect(await cases(worker)).toMatchObject([
      { closedBy: 'ani', closeReason: 'refunded by hand', closedAt: expect.any(String) },
    ]);
    await list({ since: '24h', closed: true, json: true }, target, io);
    expect(JSON.parse(io.lines.at(-1) ?? '[]')).toMatchObject([{ id, closedBy: 'ani' }]);
  });

  it('answers 3 when there is no such case', async () => {
    const { io, target } = await withCase();

    await expect(showCase('2026-01-01#0/none', target, io)).rejects.toMatchObject({ exitCode: 3 });
  });
});

describe('stepwell show', () => {
  it('links the execution’s page in the console where there is one', async () => {
    const { worker, io, target } = await withCase();
    const { arn } = await worker.execution('probe:1');
    const deployed = { ...target, consoleLink: (of: string) => `https://console/${of}` };

    await show('probe:1', false, deployed, io);

    expect(io.lines.at(-1)).toContain(`https://console/${arn}`);
    expect(io.lines.join('\n')).toMatch(/failureCode +NEVER/);
  });
});
