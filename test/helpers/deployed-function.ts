import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { LambdaFunction } from '../../local/event-sources/index.ts';
import type { Invocation, InvocationReply } from './deployed-loop.ts';

const LOOP = fileURLToPath(new URL('./deployed-loop.ts', import.meta.url));

/** A function as a template describes it. */
export interface FunctionBundle {
  readonly name: string;
  /** The asset's folder. */
  readonly folder: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** All that its process finds in its environment, beside what Lambda itself sets. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A bundle that runs in a process of its own, begun at the first invocation. */
export interface BundledFunction extends LambdaFunction {
  /** What it wrote to standard output, a line each; complete once it is stopped. */
  readonly lines: readonly string[];
  /** Invokes it without a service in between. */
  invoke(event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** An error under the name that it had in the function's process. */
class FunctionFailure extends Error {
  override readonly name: string;

  constructor(errorType: string, message: string, trace: readonly string[]) {
    super(message);
    this.name = errorType;
    this.stack = trace.join('\n');
  }
}

/** Runs a bundle as Lambda does: nothing inherited, one invocation at a time, everything through JSON. */
export function bundledFunction(bundle: FunctionBundle): BundledFunction {
  const lines: string[] = [];
  const complaints: string[] = [];
  let child: ChildProcess | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): ChildProcess {
    const started = spawn(process.execPath, [LOOP], {
      cwd: bundle.folder,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...bundle.environment,
        LAMBDA_TASK_ROOT: bundle.folder,
        AWS_LAMBDA_FUNCTION_NAME: bundle.name,
        _HANDLER: bundle.handler,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    });
    keepLines(started.stdout, lines);
    keepLines(started.stderr, complaints);
    return started;
  }

  async function invokeNext(event: unknown, remainingMillis: number): Promise<unknown> {
    child ??= start();
    const invocation: Invocation = {
      event: JSON.stringify(event),
      deadline: Date.now() + remainingMillis,
    };
    child.send(invocation);
    const reply = await replyOf(child);
    if (reply === undefined) {
      child = undefined;
      throw new FunctionFailure('Runtime.ExitError', `Runtime exited: ${complaints.join('\n')}`, []);
    }
    if ('result' in reply) return JSON.parse(reply.result);
    const { errorType, errorMessage, trace } = reply.error;
    throw new FunctionFailure(errorType, errorMessage, trace);
  }

  function invoke(event: unknown, remainingMillis = bundle.timeoutSeconds * 1000): Promise<unknown> {
    const outcome = turn.then(() => invokeNext(event, remainingMillis));
    turn = outcome.catch(() => {});
    return outcome;
  }

  return {
    lines,
    invoke: (event) => invoke(event),
    handler: (event, context) => invoke(event, context.getRemainingTimeInMillis()),
    timeoutSeconds: bundle.timeoutSeconds,
    memoryMegabytes: bundle.memoryMegabytes,
    async stop() {
      if (child === undefined || child.exitCode !== null) return;
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

function keepLines(input: Readable | null, lines: string[]): void {
  if (input !== null) createInterface({ input }).on('line', (line) => lines.push(line));
}

/** The next message of a process; undefined when it ends instead. */
async function replyOf(child: ChildProcess): Promise<InvocationReply | undefined> {
  const { promise, resolve } = Promise.withResolvers<InvocationReply | undefined>();
  const onMessage = (message: InvocationReply) => resolve(message);
  const onExit = () => resolve(undefined);
  child.once('message', onMessage).once('exit', onExit);
  try {
    return await promise;
  } finally {
    child.off('message', onMessage).off('exit', onExit);
  }
}
