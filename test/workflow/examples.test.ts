import { describe, expect, it, onTestFinished } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { providers } from '../../lambdas/providers/index.ts';
import { documentExercise, EXERCISE_QUEUE } from '../../local/examples/exercise.ts';
import { createJournal } from '../../local/examples/journal.ts';
import { type ExampleOutcome, runExamples } from '../../local/examples/run-examples.ts';
import { startProviders } from '../../local/providers/start-providers.ts';
import { countCalls } from '../helpers/count-calls.ts';
import { startWorker } from '../helpers/worker.ts';

async function runAll() {
  const journals = { main: createJournal(), exercise: createJournal() };
  const servers = await startProviders();
  onTestFinished(() => servers.close());
  const counted = countCalls(providers);
  const worker = await startWorker({
    messages: [...messages, documentExercise],
    providers: counted.providers,
    providerEnvironment: servers.env,
    busy: counted.inFlight,
    telemetry: journals.main,
    inputs: [{ ...EXERCISE_QUEUE, telemetry: journals.exercise }],
  });
  let outcomes: readonly ExampleOutcome[] | undefined;
  const running = runExamples({ runtime: worker, clock: worker.clock, providers: servers, journals }).then(
    (all) => {
      outcomes = all;
    },
  );
  await worker.until(() => outcomes !== undefined);
  await running;
  return { worker, servers, journals, outcomes: outcomes ?? [] };
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
      'payment: answer lost: COMPLETED',
      'notice: answer lost: IN DOUBT',
      'a question to a model: COMPLETED',
      'the same question: COMPLETED',
      'a document by reference: COMPLETED',
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

  it('capture a payment once though its answer was lost', async () => {
    const { servers } = await runAll();

    expect(servers.payments.requests).toHaveLength(2);
    expect(servers.payments.ledger).toHaveLength(1);
  });

  it('show what to type for the notice in doubt, with the reference of the one that went out', async () => {
    const { outcomes, servers } = await runAll();

    const notice = outcomes.find(({ result }) => result === 'IN DOUBT');
    expect(notice?.why).toBe(
      'npx stepwell effects resolve notice:N-1#deliver --completed --reference notice-1',
    );
    expect(servers.notices.ledger).toHaveLength(1);
  });

  it('ask the model once for two equal questions', async () => {
    const { servers } = await runAll();

    expect(servers.bedrock.requests).toHaveLength(1);
  });
});
