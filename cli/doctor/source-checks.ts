import { both, check, type Facts } from './facts.ts';

const MAX_BATCH_WITHOUT_WINDOW = 10;

const onlyOne = (readers: number): readonly [boolean, string] => [readers <= 1, `${readers} functions`];

/** What must hold of the event sources: the queue's, and that of the table's stream. */
export function sourceChecks(facts: Facts) {
  const { source, changes, names } = facts;
  const starter = facts.functions.get('starter') ?? { unread: 'the starter is not known' };
  const isEnabled = ({ State }: { readonly State?: string | undefined }) =>
    [State === 'Enabled', State ?? 'not there'] as const;
  const partial = ({
    FunctionResponseTypes = [],
  }: {
    readonly FunctionResponseTypes?: readonly string[] | undefined;
  }) =>
    [
      FunctionResponseTypes.includes('ReportBatchItemFailures'),
      FunctionResponseTypes.join(', ') || 'off',
    ] as const;
  return {
    enabled: check('The event source of the queue is enabled', source, isEnabled),
    target: check('The queue is read by the starter', both(source, starter), ([mapping, { FunctionArn }]) => [
      mapping.FunctionArn === FunctionArn,
      mapping.FunctionArn ?? 'by nothing',
    ]),
    only: check('Nothing else reads the queue', facts.queueReaders, onlyOne),
    onlyStream: check(
      "Nothing else reads the table's stream, as a second worker would",
      facts.streamReaders,
      onlyOne,
    ),
    partial: check('Partial batch responses are on for the queue', source, partial),
    partialChanges: check("Partial batch responses are on for the table's stream", changes, partial),
    batch: check(
      `A batch over ${MAX_BATCH_WITHOUT_WINDOW} has a window, and a FIFO queue has neither`,
      both(source, facts.queue),
      ([{ BatchSize = 10, MaximumBatchingWindowInSeconds: window = 0 }, { FifoQueue }]) => {
        const small = BatchSize <= MAX_BATCH_WITHOUT_WINDOW;
        return [
          FifoQueue === 'true' ? small && window === 0 : small || window > 0,
          `${BatchSize}, ${window} s`,
        ];
      },
    ),
    concurrency: check(
      'The event source of the queue has a maximum concurrency',
      source,
      ({ ScalingConfig }) => [
        ScalingConfig?.MaximumConcurrency !== undefined,
        String(ScalingConfig?.MaximumConcurrency ?? 'none'),
      ],
    ),
    reserved: check(
      "The starter's reserved concurrency, where it has one, is not below that maximum",
      both(source, facts.reserved),
      ([{ ScalingConfig }, { concurrency }]) => [
        concurrency === undefined || concurrency >= (ScalingConfig?.MaximumConcurrency ?? 0),
        concurrency === undefined ? 'none reserved' : String(concurrency),
      ],
    ),
    account: check(
      'The account has that many concurrent executions left',
      both(both(source, facts.reserved), facts.account),
      ([[{ ScalingConfig }, { concurrency }], { UnreservedConcurrentExecutions = 0 }]) => [
        concurrency !== undefined ||
          UnreservedConcurrentExecutions >= (ScalingConfig?.MaximumConcurrency ?? 0),
        `${UnreservedConcurrentExecutions} unreserved`,
      ],
    ),
    changesEnabled: check("The event source of the table's stream is enabled", changes, isEnabled),
    changesSource: check(
      "It reads the newest stream of the worker's table",
      both(changes, facts.table),
      ([{ EventSourceArn }, { LatestStreamArn }]) => [
        EventSourceArn !== undefined && EventSourceArn === LatestStreamArn,
        EventSourceArn ?? 'none',
      ],
    ),
    changesBounded: check(
      'It splits a batch that fails, and gives up at last',
      changes,
      ({ BisectBatchOnFunctionError, MaximumRetryAttempts = -1 }) => [
        BisectBatchOnFunctionError === true && MaximumRetryAttempts >= 0,
        `${BisectBatchOnFunctionError ? 'splits' : 'does not split'}, ${MaximumRetryAttempts < 0 ? 'for ever' : `${MaximumRetryAttempts} retries`}`,
      ],
    ),
    changesFailures: check(
      "What it gives up goes to the stream's failure queue",
      both(changes, facts.streamFailureQueue),
      ([{ DestinationConfig }, { QueueArn }]) => {
        const to = DestinationConfig?.OnFailure?.Destination;
        const isUnread = names.streamFailureQueueUrl === undefined;
        return [!isUnread && to !== undefined && to === QueueArn, to ?? 'nowhere'];
      },
    ),
  };
}
