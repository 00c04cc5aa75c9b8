import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { deadLetterQueueOf, LEAST_RECEIVES, VISIBILITY_FACTOR } from '../workflow-worker-settings.ts';
import type { Collector } from './collect.ts';

/** Props that shape the queue which the worker makes, and that an imported one does not heed. */
const OWN_QUEUE_PROPS = [
  'fifo',
  'visibilityTimeout',
  'maxReceiveCount',
  'queueRetention',
  'dlqRetention',
] as const;
/** What SQS takes where a definition says nothing. */
const DEFAULT_VISIBILITY_SECONDS = 30;
const DEFAULT_RETENTION_SECONDS = 4 * 86_400;

/** An imported queue. What is defined in this app can be checked here; `stepwell doctor` checks the rest. */
export function checkImportedQueue({ props, settings, expect }: Collector): void {
  const { queue } = props;
  if (queue === undefined) {
    expect(
      props.deadLetterQueue === undefined,
      'deadLetterQueue',
      'belongs to an imported queue',
      'Leave it out, or pass queue',
    );
    return;
  }
  for (const prop of OWN_QUEUE_PROPS) {
    expect(
      props[prop] === undefined,
      prop,
      'has no effect on an imported queue',
      'Set it where the queue is defined',
    );
  }
  const deadLetterQueue = deadLetterQueueOf(props);
  expect(
    deadLetterQueue !== undefined,
    'deadLetterQueue',
    'is required with an imported queue',
    'Pass the queue that its redrive policy names',
  );
  if (deadLetterQueue !== undefined) {
    expect(
      queue.fifo === deadLetterQueue.fifo,
      'deadLetterQueue',
      'must be of the queue’s own kind, FIFO or not: SQS refuses the other',
      'Pass another queue',
    );
    expect(
      queue.queueArn !== deadLetterQueue.queueArn,
      'deadLetterQueue',
      'must be another queue than queue: invalid messages would come round for ever',
      'Pass the queue that its redrive policy names',
    );
  }
  const definition = queue.node.defaultChild;
  if (!(definition instanceof CfnQueue)) return;
  const visibility = definition.visibilityTimeout ?? DEFAULT_VISIBILITY_SECONDS;
  expect(
    visibility >= settings.leastVisibility,
    'queue',
    `must have a visibility time-out of at least ${VISIBILITY_FACTOR} × functionTimeout + maxBatchingWindow = ${settings.leastVisibility} s, has ${visibility} s`,
    'Raise it where the queue is defined',
  );
  const { maxReceiveCount }: { readonly maxReceiveCount?: unknown } = Object(definition.redrivePolicy);
  const least = Math.max(LEAST_RECEIVES, settings.invalidReceives + 1);
  expect(
    typeof maxReceiveCount === 'number' && maxReceiveCount >= least,
    'queue',
    `must have a redrive policy with a maxReceiveCount of at least ${least}, has ${maxReceiveCount ?? 'none'}: overload counts as receives, and SQS moves a message without the reason`,
    'Set deadLetterQueue where the queue is defined; 100 is what the worker’s own queue has',
  );
  const dead = deadLetterQueue?.node.defaultChild;
  if (!(dead instanceof CfnQueue)) return;
  const [kept, keptDead] = [definition, dead].map(
    ({ messageRetentionPeriod }) => messageRetentionPeriod ?? DEFAULT_RETENTION_SECONDS,
  );
  expect(
    kept !== undefined && keptDead !== undefined && keptDead > kept,
    'deadLetterQueue',
    `must keep messages longer than the queue (${kept} s), keeps them ${keptDead} s: a moved message keeps its age`,
    'Raise retentionPeriod where it is defined',
  );
}
