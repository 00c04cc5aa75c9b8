import type { JsonObject } from '../../../lambdas/core/json.ts';
import { ApiError } from '../errors.ts';
import {
  type ActionDeps,
  compact,
  pageSize,
  pageToken,
  readPageToken,
  requireExecution,
  requireMachine,
  seconds,
} from './action.ts';

export function describeStateMachine(deps: ActionDeps, request: JsonObject): JsonObject {
  const machine = requireMachine(deps, request);
  return {
    stateMachineArn: machine.arn,
    name: machine.name,
    status: 'ACTIVE',
    definition: machine.current.definition.text,
    roleArn: deps.machinery.roleArn,
    type: machine.type,
    creationDate: seconds(machine.createdAt),
    loggingConfiguration: { level: 'OFF', includeExecutionData: false },
    tracingConfiguration: { enabled: false },
    revisionId: machine.current.id,
  };
}

/** The definition that an execution started with. */
export function describeStateMachineForExecution(deps: ActionDeps, request: JsonObject): JsonObject {
  const execution = requireExecution(deps, request);
  const machine = deps.store.machines.get(execution.machineArn);
  const revision = machine?.revisions.get(execution.revisionId);
  if (machine === undefined || revision === undefined) {
    throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${execution.machineArn}'`);
  }
  return {
    stateMachineArn: machine.arn,
    name: machine.name,
    definition: revision.definition.text,
    roleArn: deps.machinery.roleArn,
    updateDate: seconds(machine.updatedAt),
    revisionId: revision.id,
  };
}

export function listStateMachines(deps: ActionDeps, request: JsonObject): JsonObject {
  const machines = [...deps.store.machines.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const from = readPageToken(request) ?? 0;
  const to = from + pageSize(request);
  return compact({
    stateMachines: machines.slice(from, to).map((machine) => ({
      stateMachineArn: machine.arn,
      name: machine.name,
      type: machine.type,
      creationDate: seconds(machine.createdAt),
    })),
    nextToken: to < machines.length ? pageToken(to) : undefined,
  });
}
