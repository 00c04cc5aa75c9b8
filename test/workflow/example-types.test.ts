import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resolveEffect } from '../../lambdas/aws/effect-resolution.ts';
import { fromItem } from '../../lambdas/aws/items.ts';
import { messages } from '../../lambdas/messages/index.ts';
import { providers } from '../../lambdas/providers/index.ts';
import { startProviders } from '../../local/providers/start-providers.ts';
import { countCalls } from '../helpers/count-calls.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

async function start() {
  const servers = await startProviders();
  onTestFinished(() => servers.close());
  const counted = countCalls(providers);
  const worker = await startWorker({
    messages,
    providers: counted.providers,
    providerEnvironment: servers.env,
    busy: counted.inFlight,
  });
  return { worker, servers };
}

const message = (messageType: string, key: string, id: string, payload: object) => ({
  messageId: key,
  schemaVersion: 1,
  messageType,
  producer: 'test',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: key,
  aggregateType: 'thing',
  aggregateId: id,
  payload,
});

const payment = message('PaymentCaptureRequested', 'pay', 'P-1', {
  paymentId: 'P-1',
  amount: 5,
  currency: 'EUR',
});
const notice = message('NoticeDeliveryRequested', 'notice', 'N-1', {
  caseId: 'CASE-1',
  recipient: 'applicant',
  template: 'decision',
});
const question = (id: string, userId = 'U-1') =>
  message('AnswerGenerationRequested', `question-${id}`, id, { userId, prompt: 'When?', contextVersion: 1 });

/** The payload of the event that tells a question's answer. */
async function answerOf(worker: TestWorker, id: string): Promise<unknown> {
  const { Items = [] } = await worker.clients.dynamodb.send(
    new ScanCommand({ TableName: worker.names.tableName }),
  );
  const events = Items.map(fromItem).flatMap(({ PK, envelope }) =>
    String(PK).startsWith('OUTBOX#') ? [JSON.parse(String(envelope))] : [],
  );
  return events.find(({ aggregateId }) => aggregateId === id)?.payload;
}

describe('PaymentCaptureRequested', () => {
  it('is captured once through a provider that fails, answers garbage and loses its answer', async () => {
    const { worker, servers } = await start();
    servers.payments.fail(
      { when: 'before', how: { status: 503 } },
      { when: 'after', how: 'cut' },
      { when: 'after', how: 'garbage' },
    );

    await worker.send(payment);
    await worker.untilIdle();

    expect(servers.payments.ledger).toHaveLength(1);
    expect(await worker.aggregate('thing', 'P-1')).toMatchObject({
      paymentStatus: 'CAPTURED',
      captureId: 'cap-1',
    });
  });

  it('ends in quarantine under the status when the provider refuses', async () => {
    const { worker, servers } = await start();
    servers.payments.fail({ when: 'before', how: { status: 402 } });

    await worker.send(payment);
    await worker.untilIdle();

    expect(await worker.inbox('pay')).toMatchObject({ status: 'FAILED_TERMINAL', failureCode: 'HTTP_402' });
    expect(servers.payments.ledger).toEqual([]);
  });
});

describe('NoticeDeliveryRequested', () => {
  it('waits for a person when the answer was lost, and goes on with what the person found', async () => {
    const { worker, servers } = await start();
    servers.notices.fail({ when: 'after', how: 'cut' });
    await worker.send(notice);
    const effect = () => worker.row({ PK: 'EFFECT#notice#deliver', SK: 'LOG' });
    await worker.until(async () => (await effect())?.status === 'IN_DOUBT');

    const reference = servers.notices.ledger[0]?.noticeId ?? '';
    await resolveEffect(
      'notice#deliver',
      { verdict: 'completed', reference },
      {
        dynamodb: worker.clients.dynamodb,
        sfn: worker.clients.sfn,
        tableName: worker.names.tableName,
        at: new Date(worker.clock.now()).toISOString(),
      },
    );
    await worker.untilIdle();

    expect(servers.notices.requests).toHaveLength(1);
    expect(await worker.aggregate('thing', 'N-1')).toMatchObject({
      noticeStatus: 'DELIVERED',
      noticeReference: 'notice-1',
    });
  });
});

describe('AnswerGenerationRequested', () => {
  it('answers each of two equal questions by one call, and another user by another', async () => {
    const { worker, servers } = await start();

    for (const body of [question('Q-1'), question('Q-2'), question('Q-3', 'U-2')]) await worker.send(body);
    await worker.untilIdle();

    expect(servers.bedrock.requests).toHaveLength(2);
    for (const id of ['Q-1', 'Q-2', 'Q-3']) {
      expect(await answerOf(worker, id)).toMatchObject({ answer: 'You said: When?', degraded: false });
    }
  });

  it('sends the fallback, marked degraded, when the model stays throttled', async () => {
    const { worker, servers } = await start();
    const throttled = { when: 'before', how: { status: 429, code: 'ThrottlingException' } } as const;
    servers.bedrock.fail(...Array.from({ length: 5 }, () => throttled));

    await worker.send(question('Q-1'));
    await worker.untilIdle();

    expect(await answerOf(worker, 'Q-1')).toMatchObject({ degraded: true });
    expect(servers.bedrock.requests).toHaveLength(5);
  });

  it('keeps the question out of the execution history', async () => {
    const { worker } = await start();

    await worker.send(question('Q-1'));
    await worker.untilIdle();

    const { executions = [] } = await worker.clients.sfn.send(
      new ListExecutionsCommand({ stateMachineArn: worker.names.stateMachineArn }),
    );
    const histories = executions.map(({ executionArn = '' }) =>
      JSON.stringify(worker.stepFunctions.history(executionArn)),
    );
    expect(histories).toHaveLength(1);
    expect(histories.join()).not.toMatch(/When\?|U-1|question-Q-1/);
  });
});
