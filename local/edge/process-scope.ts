import { AsyncLocalStorage } from 'node:async_hooks';

/** Code that stands for one operating-system process, such as an invocation, and that may die half-way. */
export interface ProcessScope {
  /** Whose process it is, e.g. the function's name. */
  readonly name: string | undefined;
  /** False once the process was killed: it makes no more calls and sees no more answers. */
  isAlive(): boolean;
  /** Resolves when the process is killed. */
  readonly died: Promise<void>;
  kill(): void;
}

const current = new AsyncLocalStorage<ProcessScope | undefined>();

/** Creates a living process. */
export function createProcessScope(name?: string): ProcessScope {
  const { promise, resolve } = Promise.withResolvers<void>();
  let alive = true;
  return {
    name,
    isAlive: () => alive,
    died: promise,
    kill() {
      alive = false;
      resolve();
    },
  };
}

/** Runs code as that process; everything it starts and awaits belongs to it. */
export function runInProcess<T>(scope: ProcessScope, work: () => T): T {
  return current.run(scope, work);
}

/** Runs code that belongs to no process, such as a service that one calls. */
export function runOutsideProcess<T>(work: () => T): T {
  return current.run(undefined, work);
}

/** The process that the running code belongs to. */
export function currentProcess(): ProcessScope | undefined {
  return current.getStore();
}
