import type { Clock, NewId, Random } from '../../lambdas/core/clock.ts';
import type { JsonObject } from '../../lambdas/core/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../edge/client-config.ts';
import { bodyText, type Dispatch } from '../edge/http.ts';
import { type EdgeServer, listenOnLoopback } from '../edge/http-server.ts';
import type { ActionDeps } from './api/action.ts';
import type { Machinery } from './context.ts';
import { loadDefinition } from './definition/load.ts';
import { billedTransitions, type HistoryEvent } from './history.ts';
import { type ApiRequest, type ApiResponse, route } from './router.ts';
import { createRunner } from './runner.ts';
import type { TaskServices } from './services/task-services.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type StatusChange, statusChangeOf } from './status-change.ts';
import { createStore, type Machine, type Revision } from './store.ts';
import { createThrottle, type TokenBucket } from './throttle.ts';
import { createTokens } from './tokens.ts';

export interface StepFunctionsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  /** What Tasks call. */
  readonly services: TaskServices;
  /** @default 'us-east-1' */
  readonly region?: string;
  /** Twelve digits. @default '000000000000' */
  readonly accountId?: string;
  /** Called at each change of an execution's status, as EventBridge would be told. Must not throw. */
  readonly onStatusChange?: (change: StatusChange) => void;
  /** Quotas to enforce; without them nothing is throttled. */
  readonly throttles?: { readonly startExecution?: TokenBucket };
}

interface AddStateMachine {
  readonly name: string;
  /** The definition: an object, or its JSON text. */
  readonly definition: JsonObject | string;
  /** Only Standard workflows run here. @default 'STANDARD' */
  readonly type?: 'STANDARD';
}

/** An embedded Step Functions: state machines, their executions, and the service's API over both. */
export interface StepFunctions {
  /**
   * Adds a state machine, or gives one of that name a new definition. Running executions finish on the definition
   * they started with.
   * @returns its ARN
   * @throws InvalidDefinitionError naming everything that is wrong or not supported
   */
  addStateMachine(machine: AddStateMachine): string;
  /** Gives an existing machine a new definition. @throws when there is no such machine or it is invalid. */
  updateStateMachine(arn: string, definition: JsonObject | string): void;
  /** Answers one request of the AWS JSON protocol. Never rejects. */
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** The same for the local edge, in process or behind a loopback listener. */
  readonly dispatch: Dispatch;
  /** Serves the API on 127.0.0.1. @throws when the port (0 by default: any free one) is taken */
  listen(options?: { readonly port?: number }): Promise<EdgeServer>;
  /** Resolves when the execution has ended; at once when it is unknown or not running. */
  settled(executionArn: string): Promise<void>;
  /** The events of an execution, for tools in the same process; undefined when it is unknown. */
  history(executionArn: string): readonly HistoryEvent[] | undefined;
  /** How many executions run. */
  running(): number;
  /** State transitions billed for an execution so far; undefined when it is unknown. */
  billedTransitions(executionArn: string): number | undefined;
  /** All state as plain JSON data, consistent at any moment. */
  snapshot(): Snapshot;
  /**
   * Takes over a snapshot's machines and executions. Running executions go on: a Task that was under way is called
   * again, waits keep their due time, task tokens stay valid.
   */
  restore(snapshot: Snapshot): void;
  /** Halts all work without ending any execution, for a later `restore`. */
  halt(): void;
}

/** Creates an embedded Step Functions that runs JSONata state machines. */
export function createStepFunctions(deps: StepFunctionsDeps): StepFunctions {
  const { clock, random, newId, services, region = LOCAL_REGION, accountId = LOCAL_ACCOUNT } = deps;
  const store = createStore();
  const machinery: Machinery = {
    clock,
    random,
    newId,
    services,
    tokens: createTokens(newId),
    region,
    roleArn: `arn:aws:iam::${accountId}:role/local-state-machine`,
  };
  const runner = createRunner(machinery, (execution) => deps.onStatusChange?.(statusChangeOf(execution)));
  const actionDeps: ActionDeps = {
    store,
    runner,
    machinery,
    accountId,
    takeStart: createThrottle(clock, deps.throttles?.startExecution),
    onStatusChange: (execution) => deps.onStatusChange?.(statusChangeOf(execution)),
  };
  const compile = (name: string, definition: JsonObject | string) =>
    loadDefinition(name, definition, { clock, random, newId });

  const dispatch: Dispatch = async (request) =>
    route(actionDeps, { target: request.headers['x-amz-target'], body: bodyText(request) });

  function replaceDefinition(machine: Machine, definition: JsonObject | string): void {
    const revision: Revision = { id: newId(), definition: compile(machine.name, definition) };
    if (revision.definition.text === machine.current.definition.text) return;
    machine.current = revision;
    machine.revisions.set(revision.id, revision);
    machine.updatedAt = clock.now();
  }

  return {
    addStateMachine({ name, definition }) {
      const arn = `arn:aws:states:${region}:${accountId}:stateMachine:${name}`;
      const known = store.machines.get(arn);
      if (known !== undefined) {
        replaceDefinition(known, definition);
        return arn;
      }
      const current: Revision = { id: newId(), definition: compile(name, definition) };
      const now = clock.now();
      store.machines.set(arn, {
        arn,
        name,
        type: 'STANDARD',
        createdAt: now,
        updatedAt: now,
        current,
        revisions: new Map([[current.id, current]]),
        executions: [],
      });
      return arn;
    },
    updateStateMachine(arn, definition) {
      const machine = store.machines.get(arn);
      if (machine === undefined) throw new Error(`There is no state machine ${arn}; add it first.`);
      replaceDefinition(machine, definition);
    },
    handle: async (request) => route(actionDeps, request),
    dispatch,
    listen: (options) => listenOnLoopback(dispatch, options),
    settled: (arn) => runner.settled(arn),
    history: (arn) => store.executions.get(arn)?.history,
    running() {
      let count = 0;
      for (const execution of store.executions.values()) if (execution.status === 'RUNNING') count += 1;
      return count;
    },
    billedTransitions(arn) {
      const execution = store.executions.get(arn);
      return execution === undefined ? undefined : billedTransitions(execution.history);
    },
    snapshot: () => takeSnapshot(store),
    restore(snapshot) {
      for (const saved of snapshot.machines) {
        const revisions = saved.revisions.map(({ id, definition }) => ({
          id,
          definition: compile(saved.name, definition),
        }));
        const known = store.machines.get(saved.arn);
        if (known !== undefined) {
          // A definition that was loaded before is newer than what was saved.
          for (const revision of revisions) known.revisions.set(revision.id, revision);
          continue;
        }
        const current = revisions.find(({ id }) => id === saved.currentRevision);
        if (current === undefined) continue;
        store.machines.set(saved.arn, {
          arn: saved.arn,
          name: saved.name,
          type: 'STANDARD',
          createdAt: saved.createdAt,
          updatedAt: saved.updatedAt,
          current,
          revisions: new Map(revisions.map((revision) => [revision.id, revision])),
          executions: [],
        });
      }
      const executions = structuredClone([...snapshot.executions]).sort((a, b) => a.order - b.order);
      for (const execution of executions) {
        store.executions.set(execution.arn, execution);
        store.machines.get(execution.machineArn)?.executions.push(execution);
      }
      for (const execution of executions) {
        if (execution.status !== 'RUNNING') continue;
        const machine = store.machines.get(execution.machineArn);
        const definition = machine?.revisions.get(execution.revisionId)?.definition;
        if (machine !== undefined && definition !== undefined)
          runner.run(execution, definition, machine.name);
      }
    },
    halt: () => runner.halt(),
  };
}
