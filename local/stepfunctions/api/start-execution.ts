import type { JsonObject } from '../../../lambdas/core/json.ts';
import { append } from '../context.ts';
import { ApiError } from '../errors.ts';
import { type Execution, newFrame } from '../execution.ts';
import { byteLength, PAYLOAD_BYTES } from '../limits.ts';
import { findExecution, type Machine } from '../store.ts';
import {
  type ActionDeps,
  optionalString,
  requireJson,
  requireMachine,
  seconds,
  validationError,
} from './action.ts';

const MAX_NAME = 80;
/** Whitespace, brackets, wildcards, special and control characters, and all that takes surrogates. */
const FORBIDDEN = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\ufffe\uffff\p{Cs}\u{10000}-\u{10ffff}]/u;

/** Starts an execution, or answers for the running one of the same name and input. */
export function startExecution(deps: ActionDeps, request: JsonObject): JsonObject {
  if (!deps.takeStart()) throw new ApiError('ThrottlingException', 'Rate exceeded');
  const machine = requireMachine(deps, request);
  const input = optionalString(request, 'input') ?? '{}';
  const name = optionalString(request, 'name') ?? deps.machinery.newId();
  if (name === '' || name.length > MAX_NAME || FORBIDDEN.test(name)) {
    throw new ApiError('InvalidName', `Invalid Name: '${name}'`);
  }
  if (byteLength(input) > PAYLOAD_BYTES) {
    throw validationError(
      `1 validation error detected: Value at 'input' failed to satisfy constraint: Member must have length less than or equal to ${PAYLOAD_BYTES}`,
    );
  }
  requireJson(input, 'InvalidExecutionInput', 'Invalid State Machine Execution Input');
  const arn = `${machine.arn.replace(':stateMachine:', ':execution:')}:${name}`;
  const known = findExecution(deps.store, arn, deps.machinery.clock.now());
  if (known !== undefined) {
    // A closed execution and another input are not told apart.
    if (known.status !== 'RUNNING' || known.input !== input) {
      throw new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
    }
    return { executionArn: arn, startDate: seconds(known.startedAt) };
  }
  const execution = create(deps, machine, arn, name, input, optionalString(request, 'traceHeader'));
  return { executionArn: arn, startDate: seconds(execution.startedAt) };
}

function create(
  deps: ActionDeps,
  machine: Machine,
  arn: string,
  name: string,
  input: string,
  traceHeader: string | undefined,
): Execution {
  const { machinery, store, runner } = deps;
  const now = machinery.clock.now();
  const { current } = machine;
  const { timeoutSeconds, startAt } = current.definition;
  const execution: Execution = {
    arn,
    name,
    machineArn: machine.arn,
    revisionId: current.id,
    order: (machine.executions.at(-1)?.order ?? 0) + 1,
    input,
    startedAt: now,
    status: 'RUNNING',
    redriveCount: 0,
    history: [],
    // The first state's events link to 0, not to the start.
    frame: newFrame(startAt, input, 0),
    ...(timeoutSeconds === undefined ? {} : { timeoutAt: now + timeoutSeconds * 1000 }),
    ...(traceHeader === undefined ? {} : { traceHeader }),
  };
  append({ execution, machinery }, 'ExecutionStarted', 0, { input, roleArn: machinery.roleArn });
  store.executions.set(arn, execution);
  machine.executions.push(execution);
  deps.onStatusChange(execution);
  runner.run(execution, current.definition, machine.name);
  return execution;
}
