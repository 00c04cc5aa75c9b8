import { ExecutionAlreadyExists, type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';

/**
 * Starts an execution under its idempotent name. `ExecutionAlreadyExists` covers a closed execution and one with
 * other input alike; what the key's work has come to is in the inbox row.
 */
export async function startExecution(
  client: SFNClient,
  stateMachineArn: string,
  name: string,
  input: string,
): Promise<'started' | 'exists'> {
  try {
    await client.send(new StartExecutionCommand({ stateMachineArn, name, input }));
    return 'started';
  } catch (error) {
    if (error instanceof ExecutionAlreadyExists) return 'exists';
    throw error;
  }
}
