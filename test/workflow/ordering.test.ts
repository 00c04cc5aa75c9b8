import { describe, expect, it } from 'vitest';
import { stageEnvelope } from '../helpers/envelopes.ts';
import { seededRandom } from '../helpers/ids.ts';
import { startWorker } from '../helpers/worker.ts';

function shuffled(versions: readonly number[], seed: number): number[] {
  const random = seededRandom(seed);
  return versions
    .map((version) => ({ version, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ version }) => version);
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('sequential ordering', () => {
  it.each([
    ['in order', upTo(10)],
    ['reversed', upTo(10).reverse()],
    ['shuffled', shuffled(upTo(10), 7)],
  ])('applies every version once when messages arrive %s', async (_order, versions) => {
    const worker = await startWorker();

    for (const version of versions) await worker.send(stageEnvelope(version));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 10,
      'version#CaseStageChanged': 10,
      'lastKey#CaseStageChanged': 'case:CASE-123:stage:v10',
    });
    for (const version of versions) {
      const execution = await worker.execution(`case:CASE-123:stage:v${version}`);
      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.billedTransitions).toBeLessThanOrEqual(6);
    }
    expect(worker.clock.now() - Date.UTC(2026, 0, 1)).toBeLessThan(60_000);
  });
});
