import { paginateScan } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import type { Telemetry } from '../../lambdas/core/telemetry.ts';
import type { TestWorker } from './worker.ts';

/** Keeps every line and metric as text. */
export function recorder() {
  const lines: string[] = [];
  const keep = (...parts: unknown[]) => void lines.push(JSON.stringify(parts));
  const telemetry: Telemetry = { info: keep, warn: keep, error: keep, metric: keep, flush() {} };
  return { lines, telemetry };
}

/** Inputs, outputs and every event of every execution. */
export async function histories({ clients, names, stepFunctions }: TestWorker): Promise<string> {
  const { executions = [] } = await clients.sfn.send(
    new ListExecutionsCommand({ stateMachineArn: names.stateMachineArn }),
  );
  expect(executions.length).toBeGreaterThan(0);
  return JSON.stringify([
    executions,
    executions.map(({ executionArn = '' }) => stepFunctions.history(executionArn)),
  ]);
}

/** Every item of the worker's table. */
export async function rows({ clients, names }: TestWorker): Promise<string[]> {
  const found: string[] = [];
  for await (const { Items = [] } of paginateScan(
    { client: clients.dynamodb },
    { TableName: names.tableName },
  )) {
    found.push(...Items.map((item) => JSON.stringify(item)));
  }
  return found;
}

/** Every version of every object in the payload bucket, after its key. */
export async function objects({ clients, names }: TestWorker): Promise<string[]> {
  const { Versions = [] } = await clients.s3.send(
    new ListObjectVersionsCommand({ Bucket: names.payloadBucket }),
  );
  return Promise.all(
    Versions.map(async ({ Key = '', VersionId }) => {
      const { Body } = await clients.s3.send(
        new GetObjectCommand({
          Bucket: names.payloadBucket,
          Key,
          ...(VersionId === undefined ? {} : { VersionId }),
        }),
      );
      return `${Key} ${await Body?.transformToString()}`;
    }),
  );
}

/** Up to ten messages of a queue, with all attributes. */
export async function received({ clients }: TestWorker, queueUrl: string): Promise<readonly Message[]> {
  const { Messages = [] } = await clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages;
}

/** All that any store, queue, history, log or metric of the local runtime holds. */
export async function everything(worker: TestWorker, lines: readonly string[]): Promise<string[]> {
  const { queueUrl, dlqUrl, quarantineQueueUrl } = worker.names;
  const queued: string[] = [];
  for (const url of [queueUrl, dlqUrl, quarantineQueueUrl]) {
    queued.push(...(await received(worker, url)).map((message) => JSON.stringify(message)));
  }
  return [...(await rows(worker)), ...(await objects(worker)), ...queued, await histories(worker), ...lines];
}

/** What `forgetAggregate` works on. */
export const forgetDeps = ({ clients, names }: TestWorker) => ({
  dynamodb: clients.dynamodb,
  s3: clients.s3,
  sqs: clients.sqs,
  queueUrls: [names.dlqUrl, names.quarantineQueueUrl],
  tableName: names.tableName,
  payloadBucket: names.payloadBucket,
});
