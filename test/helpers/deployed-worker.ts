import { systemClock, systemId, systemRandom } from '../../lambdas/aws/system.ts';
import { executionArn, executionName } from '../../lambdas/core/identity.ts';
import type { Deployment } from '../../local/deployment.ts';
import { startRuntime } from '../../local/runtime.ts';
import { type BundledFunction, bundledFunction } from './deployed-function.ts';
import {
  resolveWorker,
  runtimeSettings,
  type Surroundings,
  type SynthesisedWorker,
} from './deployed-template.ts';
import { type AskedWorker, askWorker } from './worker-questions.ts';

/** How long something may take to come about before a test gives up waiting for it. */
const PATIENCE_MILLIS = 20_000;

/** A synthesised worker's bundles in processes of their own, and its definition, in a local runtime. */
export interface DeployedWorker extends AskedWorker {
  /** Puts another synthesised worker in the place of this one, as `cdk deploy` does. */
  redeploy(worker: SynthesisedWorker): void;
  /** Waits until the condition holds, and looks whenever something has happened. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  untilIdle(): Promise<void>;
  /** Waits until the key's execution has entered the state and stays there. */
  untilIn(idempotencyKey: string, state: string): Promise<void>;
  /** Ends everything. @returns what the functions wrote to standard output */
  end(): Promise<readonly string[]>;
}

/** Runs a synthesised worker in real time. */
export async function startDeployed(
  worker: SynthesisedWorker,
  { otherEndpoints = {} }: Pick<Surroundings, 'otherEndpoints'> = {},
): Promise<DeployedWorker> {
  const processes: BundledFunction[] = [];
  const failures: unknown[] = [];
  let ownPlace: Surroundings | undefined;

  function deploy(next: SynthesisedWorker, place: Surroundings): Deployment {
    const { bundles, definition, streamFilters } = resolveWorker(next, place);
    const functions = bundles.map((bundle) => [bundle.name, bundledFunction(bundle)] as const);
    processes.push(...functions.map(([, started]) => started));
    return {
      functions: Object.fromEntries(functions),
      definition,
      streamFilters,
      stop: async () => {
        await Promise.all(functions.map(([, started]) => started.stop()));
      },
    };
  }

  const runtime = await startRuntime({
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    ...runtimeSettings(worker),
    sweepSeconds: 0,
    onError: (error) => failures.push(error),
    deployment(place) {
      ownPlace = { ...place, otherEndpoints };
      return deploy(worker, ownPlace);
    },
  });

  /** Resolves at the next change, or when patience is at its end. */
  function nextChange(patience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = runtime.onChange(end);
      patience.addEventListener('abort', end, { once: true });
      function end(): void {
        stopListening();
        patience.removeEventListener('abort', end);
        resolve();
      }
    });
  }

  async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const patience = AbortSignal.timeout(PATIENCE_MILLIS);
    for (;;) {
      const change = nextChange(patience);
      if (await condition()) return;
      const [failure] = failures;
      if (failure !== undefined) throw failure;
      if (patience.aborted) {
        const seconds = PATIENCE_MILLIS / 1000;
        const running = runtime.stepFunctions.running();
        throw new Error(`In ${seconds} s it was never so that ${what}; ${running} executions run`);
      }
      await change;
    }
  }

  return {
    ...runtime,
    ...askWorker(runtime),
    redeploy(next) {
      if (ownPlace !== undefined) runtime.deploy(deploy(next, ownPlace));
    },
    until,
    untilIdle: () => until('no message is left and no execution runs', runtime.isIdle),
    untilIn(idempotencyKey, state) {
      const arn = executionArn(runtime.names.stateMachineArn, executionName(idempotencyKey));
      return until(`${idempotencyKey} is in ${state}`, () => {
        const history = runtime.stepFunctions.history(arn) ?? [];
        const entered = history.filter(({ type }) => type.endsWith('StateEntered'));
        return entered.at(-1)?.details?.name === state;
      });
    },
    async end() {
      await runtime.stop();
      return processes.flatMap(({ lines }) => lines);
    },
  };
}
