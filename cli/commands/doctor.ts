import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { GetFunctionConfigurationCommand, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { type CheckLine, checkLines, type Facts } from '../doctor-checks.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { table } from '../table.ts';
import type { Target } from '../target.ts';

const MARKS: Readonly<Record<CheckLine['result'], string>> = {
  pass: 'pass',
  fail: 'FAIL',
  unknown: 'not checkable',
};

/** Goes through the production checklist, line by line; exit code 1 when a line fails. */
export async function doctor(json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const lines = checkLines(await readFacts(target));
  if (json) io.out(JSON.stringify(lines));
  else {
    io.out(
      table(
        ['', 'line', 'found, or how to show it'],
        lines.map(({ result, line, detail }) => [MARKS[result], line, detail]),
      ),
    );
  }
  return lines.some(({ result }) => result === 'fail') ? EXIT.FAILED : EXIT.OK;
}

async function readFacts(target: Target): Promise<Facts> {
  const { sqs, dynamodb, sfn, lambda } = target.clients;
  const { names } = target;
  const attributes = async (QueueUrl: string) =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {};
  const [queue, dlq, tableFacts, ttl, backups, machine, mappings] = await Promise.all([
    known(() => attributes(names.queueUrl)),
    known(() => attributes(names.dlqUrl)),
    known(async () => (await dynamodb.send(new DescribeTableCommand({ TableName: names.tableName }))).Table),
    known(
      async () =>
        (await dynamodb.send(new DescribeTimeToLiveCommand({ TableName: names.tableName })))
          .TimeToLiveDescription,
    ),
    known(
      async () =>
        (await dynamodb.send(new DescribeContinuousBackupsCommand({ TableName: names.tableName })))
          .ContinuousBackupsDescription,
    ),
    known(() => sfn.send(new DescribeStateMachineCommand({ stateMachineArn: names.stateMachineArn }))),
    known(
      async () =>
        (await lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn: names.queueArn })))
          .EventSourceMappings,
    ),
  ]);
  const mapping = mappings?.find(({ EventSourceArn }) => EventSourceArn === names.queueArn);
  const starter =
    mapping?.FunctionArn === undefined
      ? undefined
      : await known(() =>
          lambda.send(new GetFunctionConfigurationCommand({ FunctionName: mapping.FunctionArn })),
        );
  return { queue, dlq, table: tableFacts, ttl, backups, machine, mapping, starter };
}

/** What cannot be read is not known; the line then says how to show it. */
async function known<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
