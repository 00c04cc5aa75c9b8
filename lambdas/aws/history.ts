import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  InvalidToken,
  ListExecutionsCommand,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { type ClosedExecution, UNSUCCESSFUL, type Unsuccessful } from '../core/closed-execution.ts';
import { validateEnvelope } from '../core/envelope.ts';
import { executionArn } from '../core/identity.ts';
import type { ExecutionPage } from '../reconciler/reconciler.ts';

/** Small pages, so that a bounded sweep always gets further by whole ones. */
const PAGE_SIZE = 100;

/**
 * An execution as it is now.
 * @returns undefined when it is unknown, has not closed without success, or was not started with the worker's input
 */
export async function describeClosed(client: SFNClient, arn: string): Promise<ClosedExecution | undefined> {
  try {
    const output = await client.send(new DescribeExecutionCommand({ executionArn: arn }));
    const status = UNSUCCESSFUL.find((known) => known === output.status);
    const input = output.input === undefined ? undefined : readInput(output.input);
    if (status === undefined || input === undefined || output.stopDate === undefined) return undefined;
    return {
      ...input,
      arn,
      name: output.name ?? arn.slice(arn.lastIndexOf(':') + 1),
      status,
      startedAt: (output.startDate ?? output.stopDate).toISOString(),
      stoppedAt: output.stopDate.toISOString(),
      redriveCount: output.redriveCount ?? 0,
      error: output.error,
      cause: output.cause,
    };
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

/** Executions that closed so, newest start first; from the first page on when the page token has expired. */
export async function listClosed(
  client: SFNClient,
  stateMachineArn: string,
  status: Unsuccessful,
  pageToken: string | undefined,
): Promise<ExecutionPage> {
  const list = (nextToken: string | undefined) =>
    client.send(
      new ListExecutionsCommand({
        stateMachineArn,
        statusFilter: status,
        maxResults: PAGE_SIZE,
        ...(nextToken === undefined ? {} : { nextToken }),
      }),
    );
  const output = await list(pageToken).catch((error: unknown) => {
    if (pageToken !== undefined && error instanceof InvalidToken) return list(undefined);
    throw error;
  });
  return {
    executions: (output.executions ?? []).flatMap(({ executionArn, name, startDate, stopDate }) =>
      executionArn === undefined || name === undefined || startDate === undefined
        ? []
        : [
            {
              arn: executionArn,
              name,
              startedAt: startDate.getTime(),
              stoppedAt: (stopDate ?? startDate).getTime(),
            },
          ],
    ),
    nextToken: output.nextToken,
  };
}

/** Whether an execution of that name is there, in whatever state. */
export async function isKnownExecution(
  client: SFNClient,
  stateMachineArn: string,
  name: string,
): Promise<boolean> {
  try {
    await client.send(new DescribeExecutionCommand({ executionArn: executionArn(stateMachineArn, name) }));
    return true;
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return false;
    throw error;
  }
}

/** When the newest execution started (epoch milliseconds). */
export async function newestStart(client: SFNClient, stateMachineArn: string): Promise<number | undefined> {
  const { executions } = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1 }));
  return executions?.[0]?.startDate?.getTime();
}

/** The part of an execution's input that its work is known by; undefined for input that is not the worker's. */
export function readInput(
  text: string,
): Pick<ClosedExecution, 'envelope' | 'requestHash' | 'rest'> | undefined {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof input !== 'object' || input === null) return undefined;
  if (!('envelope' in input) || !('requestHash' in input) || typeof input.requestHash !== 'string') {
    return undefined;
  }
  const { envelope, ...rest } = input;
  const result = validateEnvelope(envelope);
  return result.ok ? { envelope: result.envelope, requestHash: input.requestHash, rest } : undefined;
}
