import { alarmChecks } from './alarm-checks.ts';
import { bucketChecks } from './bucket-checks.ts';
import type { Check, Facts } from './facts.ts';
import { functionChecks } from './function-checks.ts';
import { machineChecks } from './machine-checks.ts';
import { queueChecks } from './queue-checks.ts';
import { sourceChecks } from './source-checks.ts';
import { tableChecks } from './table-checks.ts';

/** A line of a checklist, with what was checked for it. */
export interface ChecklistLine {
  /** 1 from the list's beginning. */
  readonly number: number;
  readonly line: string;
  /** `unknown`: nothing can be checked, or a service could not be asked. */
  readonly result: Check['result'];
  readonly checks: readonly Check[];
  /** How to show what no service can say. */
  readonly shown?: string;
}

export interface Checklist {
  readonly list: 'worker design' | 'production deployment' | 'resources';
  readonly lines: readonly ChecklistLine[];
}

/** A line of a list: the text, what is checked for it, and how to show what cannot be checked. */
type Draft = readonly [line: string, checks: readonly Check[], shown?: string];

/**
 * The three checklists: how a worker that writes to a database is designed, what is made sure of before production,
 * and what the worker needs of its resources, which also holds of those that were imported.
 */
export function checklists(facts: Facts): readonly Checklist[] {
  const checks = allChecks(facts);
  return [
    { list: 'worker design', lines: design(checks).map(toLine) },
    { list: 'production deployment', lines: production(checks).map(toLine) },
    { list: 'resources', lines: resources(checks, facts).map(toLine) },
  ];
}

const allChecks = (facts: Facts) => ({
  queue: queueChecks(facts),
  source: sourceChecks(facts),
  table: tableChecks(facts),
  functions: functionChecks(facts),
  machine: machineChecks(facts),
  bucket: bucketChecks(facts),
  alarms: alarmChecks(facts),
});
type Checks = ReturnType<typeof allChecks>;

const OUTCOMES = 'stepwell smoke --stack STACK sends one message of each kind';

function design({ queue, source, table, functions, machine, alarms }: Checks): readonly Draft[] {
  const limits = [source.concurrency, source.reserved, source.account];
  return [
    [
      'Every message has an idempotencyKey that is stable in the domain',
      [],
      'review the producers: the key names the work, never the sending (docs/message-types.md)',
    ],
    [
      'The worker has storage for its inbox (idempotency)',
      [
        table.active,
        table.keys,
        table.types,
        table.indexes,
        table.ttl,
        table.backups,
        table.protection,
        functions.table,
      ],
    ],
    [
      "The domain's table has a guard of uniqueness or version",
      [machine.definition, functions.release, table.replicas],
      'in a clone of Stepwell, npx vitest run test/workflow/ordering.test.ts test/workflow/contention.test.ts',
    ],
    [
      'A duplicate of what has completed counts as success',
      [],
      `${OUTCOMES}, a duplicate too; in a clone of Stepwell, npx vitest run test/workflow/duplicates.test.ts`,
    ],
    ['A changed payload under a known key raises an alert', [alarms.mismatches]],
    [
      'The visibility time-out follows from the 99th percentile of processing',
      [queue.visibility, alarms.slow],
    ],
    ['Partial batch failure is enabled and implemented', [source.partial, source.partialChanges]],
    [
      "The worker's concurrency is limited by what the database bears",
      limits,
      'capacity() of stepwell/cdk derives it from the rates of the database and of what is called',
    ],
    [
      'The dead-letter queue has an owner and a runbook',
      [alarms.dlq, alarms.runbook, queue.retention],
      "the owner: aws sns list-subscriptions-by-topic --topic-arn (the stack's output AlarmTopicArn)",
    ],
    ['A redrive was tried with a sample', [], 'stepwell dlq redrive --sample 1, then stepwell show KEY'],
    [
      'A crash after the commit and before the deletion was tried',
      [],
      'in a clone of Stepwell, npx vitest run test/workflow/injection.test.ts: each call fails in each way, also after it was carried out',
    ],
    [
      'Queue, worker, database, idempotency and dead-letter queue can be observed',
      [alarms.age, ...alarms.executions, ...alarms.errors, ...alarms.dashboard, functions.logs, machine.logs],
    ],
    [
      'Producers use an outbox where messages must follow the state of a database',
      [],
      "review the producers; the worker's own events leave by its outbox: in a clone of Stepwell, npx vitest run test/workflow/outbox.test.ts",
    ],
    [
      'External side effects have idempotency or a log',
      [functions.effectLog, alarms.doubts],
      'in a clone of Stepwell, npx vitest run test/workflow/effects.test.ts test/workflow/effect-injection.test.ts',
    ],
    [
      'Schemas have versions',
      [],
      'review lambdas/messages: old versions stay in `schemas` while messages of them may come',
    ],
  ];
}

function production({ queue, source, functions, alarms }: Checks): readonly Draft[] {
  return [
    [
      'Dead-letter queue: a redrive policy leads there, and an alarm tells of messages that failed',
      [queue.redrive, alarms.dlq],
    ],
    [
      "Least privilege: a function's role has only the rights that it needs",
      [functions.roles],
      'in a clone of Stepwell, npx vitest run test/infrastructure/worker-permissions.test.ts holds each role against the calls of its code',
    ],
    [
      'Reserved concurrency: a limit keeps the functions from overloading the database',
      [source.concurrency, source.reserved, source.account],
    ],
    ["The visibility time-out is longer than the function's time-out", [queue.visibility]],
    [
      'Monitoring: messages in the queues and errors of the functions notify the team',
      [alarms.backlog, alarms.dlq, alarms.quarantine, alarms.streamFailures, ...alarms.errors],
      'that the team is reached: aws cloudwatch set-alarm-state on one alarm, and wait for the message',
    ],
    [
      'Idempotency: processing a duplicate is harmless',
      [],
      `${OUTCOMES}; in a clone of Stepwell, npx vitest run test/workflow/injection.test.ts`,
    ],
  ];
}

function resources(checks: Checks, { names }: Facts): readonly Draft[] {
  const { queue, source, table, functions, machine, bucket } = checks;
  const logGroup = names.stateMachineLogGroup;
  return [
    ['Queues are encrypted', queue.encrypted],
    ['Queues are reached by TLS only', queue.tls],
    [
      'The queue gives overload time, and its dead-letter queue takes what it gives',
      [queue.receives, queue.rejections, queue.admits, queue.kind],
    ],
    [
      'The queue is read by the starter, in batches that Lambda accepts',
      [source.enabled, source.target, source.only, source.batch],
    ],
    [
      "The table's stream reaches the waker",
      [
        table.stream,
        source.onlyStream,
        source.changesEnabled,
        source.changesSource,
        source.changesBounded,
        source.changesFailures,
      ],
    ],
    [
      'The functions are as this release deploys them',
      [functions.active, functions.runtime, functions.worker],
    ],
    ['The state machine is as this release deploys it', [machine.active, machine.timeouts, machine.data]],
    [
      'The payload bucket is closed, versioned and expiring',
      [bucket.versioned, bucket.closed, bucket.expiring],
    ],
    [
      'Logs are kept for a time, and not for ever',
      [],
      logGroup === undefined
        ? 'aws logs describe-log-groups'
        : `aws logs describe-log-groups --log-group-name-prefix '${logGroup}', and so for each function`,
    ],
  ];
}

function toLine([line, checks, shown]: Draft, index: number): ChecklistLine {
  const results = checks.map(({ result }) => result);
  const result = results.includes('fail')
    ? 'fail'
    : results.includes('unknown') || results.length === 0
      ? 'unknown'
      : 'pass';
  return { number: index + 1, line, result, checks, ...(shown === undefined ? {} : { shown }) };
}
