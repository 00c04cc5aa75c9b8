import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What a bundle's process is asked. */
export interface Invocation {
  /** JSON text. */
  readonly event: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** What it answers: a result as JSON text, or an error as Lambda words it. */
export type InvocationReply =
  | { readonly result: string }
  | {
      readonly error: {
        readonly errorType: string;
        readonly errorMessage: string;
        readonly trace: readonly string[];
      };
    };

type Handler = (event: unknown, context: object) => Promise<unknown>;

const { LAMBDA_TASK_ROOT = '', AWS_LAMBDA_FUNCTION_NAME: functionName = '', _HANDLER = '' } = process.env;

/** `file.name`, as Lambda reads it. */
async function load(): Promise<Handler> {
  const [, file = '', name = ''] = /^(.*)\.([^.]*)$/.exec(_HANDLER) ?? [];
  const path = ['.js', '.mjs', '.cjs']
    .map((extension) => join(LAMBDA_TASK_ROOT, `${file}${extension}`))
    .find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(`Cannot find module '${file}' in ${LAMBDA_TASK_ROOT}`);
  const { [name]: handler } = await import(pathToFileURL(path).href);
  if (typeof handler !== 'function') throw new Error(`${_HANDLER} is undefined or not exported`);
  return handler;
}

function describe(thrown: unknown): InvocationReply {
  if (!(thrown instanceof Error)) {
    return { error: { errorType: typeof thrown, errorMessage: String(thrown), trace: [] } };
  }
  const { name, message, stack = '' } = thrown;
  return { error: { errorType: name, errorMessage: message, trace: stack.split('\n') } };
}

async function invoke({ event, deadline }: Invocation): Promise<InvocationReply> {
  try {
    const context = {
      functionName,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    const result = await (await loaded)(JSON.parse(event), context);
    return { result: JSON.stringify(result) ?? 'null' };
  } catch (error) {
    return describe(error);
  }
}

const loaded = load();
// Told with the first invocation: a function that cannot be loaded fails each of them.
loaded.catch(() => {});
process.on('message', async (invocation: Invocation) => process.send?.(await invoke(invocation)));
process.on('disconnect', () => process.exit());
