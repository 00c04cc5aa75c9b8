import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { WorkflowWorker } from '../workflow-worker.ts';
import type { Collector } from './collect.ts';

/** No table, queue or name that another worker of the app has, and nothing from another Region. */
export const checkNeighbours =
  (worker: Construct, neighbours: readonly WorkflowWorker[]) =>
  ({ props, settings, expect }: Collector): void => {
    for (const other of neighbours) {
      const { path } = other.node;
      expect(
        props.table === undefined || props.table.tableArn !== other.table.tableArn,
        'table',
        `is the table of the worker ${path}: a table has one worker, because in-flight register, breaker, sweep cursor, effects and parked executions in it are one worker's, and its stream bears two readers`,
        'Leave it out; aggregates that both workers change belong in `aggregates`',
      );
      expect(
        props.queue === undefined || props.queue.queueArn !== other.queue.queueArn,
        'queue',
        `is the queue of the worker ${path}: each would be given a part of the messages`,
        'Give each worker a queue, and both from a topic if they are to see the same messages',
      );
      expect(
        settings.workerName !== other.workerName || !isBeside(Stack.of(worker), Stack.of(other)),
        'workerName',
        `is the name of the worker ${path} as well: their metrics, alarms and \`--worker\` would be one`,
        'Rename one',
      );
    }
    const { region } = Stack.of(worker);
    const arns = {
      queue: props.queue?.queueArn,
      deadLetterQueue: props.deadLetterQueue?.queueArn,
      table: props.table?.tableArn,
      encryptionKey: props.encryptionKey?.keyArn,
    };
    for (const [prop, arn] of Object.entries(arns)) {
      // Nothing is known yet of an ARN that CloudFormation resolves, nor of a stack that may be deployed anywhere.
      const there = arn === undefined || Token.isUnresolved(arn) ? undefined : arn.split(':')[3];
      expect(
        there === undefined || Token.isUnresolved(region) || there === region,
        prop,
        `must be in the worker's Region ${region}, is in ${there}`,
        'Pass one of this Region, or put the worker into the other',
      );
    }
  };

/** Whether both are deployed into one account and Region: named ones, or those that the deployment decides. */
const isBeside = (stack: Stack, other: Stack): boolean =>
  stack.account === other.account && stack.region === other.region;
