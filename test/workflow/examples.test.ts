import { describe, expect, it } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { documentExercise, EXERCISE_QUEUE } from '../../local/examples/exercise.ts';
import { createJournal } from '../../local/examples/journal.ts';
import { type ExampleOutcome, runExamples } from '../../local/examples/run-examples.ts';
import { startWorker } from '../helpers/worker.ts';

async function runAll() {
  const journals = { main: createJournal(), exercise: createJournal() };
  const worker = await startWorker({
    messages: [...messages, documentExercise],
    telemetry: journals.main,
    inputs: [{ ...EXERCISE_QUEUE, telemetry: journals.exercise }],
  });
  let outcomes: readonly ExampleOutcome[] | undefined;
  const running = runExamples({ runtime: worker, clock: worker.clock, journals }).then((all) => {
    outcomes = all;
  });
  await worker.until(() => outcomes !== undefined);
  await running;
  return { worker, journals, outcomes: outcomes ?? [] };
}

describe('the examples', () => {
  it('come out as each of them says', async () => {
    const { outcomes } = await runAll();

    expect(outcomes.map(({ example, result }) => `${example.title}: ${result}`)).toEqual([
      'a good message: COMPLETED',
      'the same again: DUPLICATE',
      'same key, other content: DEAD LETTER',
      'an out-of-date version: SUPERSEDED',
      'invalid JSON: DEAD LETTER',
      'exercise: fails as it is: DEAD LETTER',
      'exercise: its neighbour: COMPLETED',
      'exercise: handler throws: QUARANTINED',
    ]);
  });

  it("put the exercise's failing body into its dead-letter queue after exactly three receives", async () => {
    const { worker, journals } = await runAll();

    const receives = journals.exercise.entries
      .filter(({ message }) => message === 'message_rejected')
      .map(({ fields }) => fields.receiveCount);
    expect(receives).toEqual([1, 2, 3]);
    const [exercise] = worker.inputs;
    expect(await worker.depth(exercise?.dlqUrl ?? '')).toBe(1);
    expect(await worker.depth(exercise?.queueUrl ?? '')).toBe(0);
  });

  it('leave the first message as it was when its key comes with other content', async () => {
    const { worker } = await runAll();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 1,
      deadlineStage: 'INVESTIGATION',
    });
  });
});
