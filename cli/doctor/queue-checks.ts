import { both, type Check, check, type Facts, type QueueAttributes, type Reading } from './facts.ts';

/** Lambda's advice: a batch that is retried inside the function must not come back meanwhile. */
const VISIBILITY_FACTOR = 6;
/** Overload counts as receives: below this it fills the dead-letter queue. */
const MIN_RECEIVES = 5;

/** What must hold of the queues, the worker's own or imported ones. */
export function queueChecks(facts: Facts) {
  const { queue, dlq, names } = facts;
  const starter = facts.functions.get('starter') ?? { unread: 'the starter is not known' };
  return {
    redrive: check("The queue's redrive policy names the worker's dead-letter queue", queue, (attributes) => {
      const { deadLetterTargetArn } = redriveOf(attributes);
      return [deadLetterTargetArn === names.dlqArn, deadLetterTargetArn ?? 'no redrive policy'];
    }),
    receives: check(
      `maxReceiveCount is at least ${MIN_RECEIVES}, so that throttling makes no dead letters`,
      queue,
      (attributes) => {
        const { maxReceiveCount } = redriveOf(attributes);
        return [Number(maxReceiveCount ?? 0) >= MIN_RECEIVES, String(maxReceiveCount ?? 'no redrive policy')];
      },
    ),
    rejections: check(
      'It is above the receive on which the starter gives up an invalid message, so that the reason comes along',
      both(queue, starter),
      ([attributes, { Environment }]) => {
        const { maxReceiveCount = 0 } = redriveOf(attributes);
        const invalid = Number(Environment?.Variables?.INVALID_RECEIVES ?? 0);
        return [Number(maxReceiveCount) > invalid, `${maxReceiveCount} against ${invalid}`];
      },
    ),
    retention: check(
      'The dead-letter queue keeps messages longer than the queue',
      both(queue, dlq),
      ([main, dead]) => [
        Number(dead.MessageRetentionPeriod) > Number(main.MessageRetentionPeriod),
        `${dead.MessageRetentionPeriod} s against ${main.MessageRetentionPeriod} s`,
      ],
    ),
    admits: check('The dead-letter queue takes messages of the queue', dlq, (attributes) => {
      const { redrivePermission = 'allowAll', sourceQueueArns = [] }: RedriveAllowPolicy = JSON.parse(
        attributes.RedriveAllowPolicy ?? '{}',
      );
      const named = redrivePermission === 'byQueue' && sourceQueueArns.includes(names.queueArn);
      return [redrivePermission === 'allowAll' || named, redrivePermission];
    }),
    kind: check(
      "The dead-letter queue is of the queue's kind, FIFO or not",
      both(queue, dlq),
      ([main, dead]) => [
        (main.FifoQueue === 'true') === (dead.FifoQueue === 'true'),
        main.FifoQueue === 'true' ? 'FIFO' : 'standard',
      ],
    ),
    visibility: check(
      `The visibility time-out is at least ${VISIBILITY_FACTOR} times the starter's time-out, plus the batching window`,
      both(both(queue, starter), facts.source),
      ([[attributes, { Timeout = 3 }], { MaximumBatchingWindowInSeconds: window = 0 }]) => {
        const least = VISIBILITY_FACTOR * Timeout + window;
        const visibility = Number(attributes.VisibilityTimeout);
        return [
          visibility >= least,
          `${visibility} s against ${VISIBILITY_FACTOR} × ${Timeout} s + ${window} s`,
        ];
      },
    ),
    ...securityChecks(facts),
  };
}

function securityChecks(facts: Facts) {
  const queues: Readonly<Record<string, Reading<QueueAttributes>>> = {
    'The queue': facts.queue,
    'The dead-letter queue': facts.dlq,
    'The quarantine queue': facts.quarantineQueue,
    "The stream's failure queue": facts.streamFailureQueue,
  };
  const encrypted = Object.entries(queues).map(([name, queue]) =>
    check(`${name} is encrypted`, queue, ({ KmsMasterKeyId, SqsManagedSseEnabled }) => {
      const key = KmsMasterKeyId ?? (SqsManagedSseEnabled === 'true' ? 'by SQS' : undefined);
      return [key !== undefined, key ?? 'not at all'];
    }),
  );
  const tls = Object.entries(queues).map(([name, queue]) =>
    check(`${name} refuses what comes without TLS`, queue, ({ Policy }) => {
      const refuses = refusesPlainHttp(Policy);
      return [refuses, refuses ? 'by its policy' : 'no statement of its policy does'];
    }),
  );
  return { encrypted, tls } satisfies Record<string, readonly Check[]>;
}

interface RedriveAllowPolicy {
  readonly redrivePermission?: string;
  readonly sourceQueueArns?: readonly string[];
}

function redriveOf(attributes: QueueAttributes): {
  readonly deadLetterTargetArn?: string;
  readonly maxReceiveCount?: string | number;
} {
  return JSON.parse(attributes.RedrivePolicy ?? '{}');
}

/** Whether a statement denies everything that comes without TLS. */
function refusesPlainHttp(policy: string | undefined): boolean {
  const { Statement = [] }: { readonly Statement?: unknown } = JSON.parse(policy ?? '{}');
  return [Statement].flat().some((statement) => {
    const { Effect, Condition } = Object(statement);
    return Effect === 'Deny' && String(Condition?.Bool?.['aws:SecureTransport']) === 'false';
  });
}
