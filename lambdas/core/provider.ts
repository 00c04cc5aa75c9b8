import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Clock } from './clock.ts';
import { ConfigurationError } from './errors.ts';

/** One call of an operation. */
export interface EffectCall<R> {
  /** The plan's request, validated by the operation's schema. */
  readonly request: R;
  /**
   * The provider's idempotency key: the effect key, the same at every repetition of one call, another one only when
   * the earlier call is known not to have happened. Up to about 310 characters of any kind.
   */
  readonly key: string;
  /** Aborted when no answer is waited for any longer. */
  readonly signal: AbortSignal;
  readonly traceparent?: string;
  readonly correlationId?: string;
}

/** What the provider said. Kept in the effect log; the plan sees it. */
export interface EffectAnswer {
  /** The provider's own name of what happened: what a person would ask it for. At most 300 characters. */
  readonly reference?: string;
  /** JSON. Above 64 KB it lies in the payload bucket. */
  readonly response?: unknown;
}

/** What a provider knows of a call that may have been made. */
export type LookupAnswer =
  | { readonly found: 'done'; readonly answer: EffectAnswer }
  /** It has not happened and will not: no call is under way. */
  | { readonly found: 'notDone' }
  | { readonly found: 'unknown' };

/**
 * What a failed call amounts to.
 *
 * - `done: 'no'`: this call did nothing. With `forKey`, nothing has happened under the key at all, also not by an
 *   earlier call whose answer was lost.
 * - `done: 'unknown'`: it may have happened. Without idempotency keys and lookup, a person has to say.
 */
export type CallFailure =
  | {
      readonly done: 'no';
      readonly forKey?: true;
      readonly kind: 'retryable' | 'terminal';
      readonly code: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  | {
      readonly done: 'unknown';
      readonly code: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    };

/** One thing that a provider can do. */
export interface Operation<R> {
  /** Validates and types the request: any Standard Schema. */
  readonly schema: StandardSchemaV1<unknown, R>;
  /** The provider carries out a key once, and answers a repetition as it answered the first time. */
  readonly idempotent: boolean;
  /** How long the provider remembers a key. After it, a repetition is a second effect. @default for good */
  readonly idempotencyWindowSeconds?: number;
  /** Nothing happens at the provider (a question, a model's answer): a repetition costs money and no more. */
  readonly harmless?: boolean;
  /** How long an answer is waited for, within the function's time-out. @default the function's, less what recording takes */
  readonly timeoutSeconds?: number;
  /** Makes the call. What it throws, `classify` reads. */
  execute(call: EffectCall<R>): Promise<EffectAnswer>;
  /** Asks what has become of a call with this key. Asked instead of calling when a call may have been made. */
  lookup?(call: EffectCall<R>): Promise<LookupAnswer>;
  /** Reads what `execute` threw. When in doubt, `done: 'unknown'`. */
  classify(error: unknown): CallFailure;
}

/** An operation whose request type only its own schema knows. */
export type AnyOperation = Operation<unknown>;
export type Operations = Readonly<Record<string, AnyOperation>>;

/** What a provider may use of its function's surroundings. */
export interface ProviderContext {
  /** The function's environment: endpoints and settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The provider's secret, read at init and renewed. Throws where the function was given none. */
  secret(): Promise<string>;
}

/** A provider, before its function has started. */
export interface ProviderDefinition {
  /** `[A-Za-z][A-Za-z0-9]{0,59}`: plans, settings and metrics name it so. */
  readonly name: string;
  /** Called once, at the function's init. */
  open(context: ProviderContext): Operations;
}

type OperationsOf<S> = { readonly [K in keyof S]: Operation<S[K]> };

/**
 * Defines an effect provider. Each one runs in a function of its own, with a role and a secret of its own.
 *
 * @param definition `operations` may be a function of the surroundings, for providers with endpoints and secrets
 * @throws ConfigurationError when the name would make no state machine placeholder
 */
export function defineProvider<S extends Record<string, unknown>>(definition: {
  readonly name: string;
  readonly operations: OperationsOf<S> | ((context: ProviderContext) => OperationsOf<S>);
}): ProviderDefinition {
  const { name, operations } = definition;
  if (!/^[A-Za-z][A-Za-z0-9]{0,59}$/.test(name)) {
    throw new ConfigurationError(`Provider ${name}: name must match [A-Za-z][A-Za-z0-9]{0,59}`);
  }
  return { name, open: (context) => (typeof operations === 'function' ? operations(context) : operations) };
}

/** The provider's idempotency key of a generation: the effect key, then `<effectKey>~2` and so on. */
export const providerKey = (effectKey: string, generation: number): string =>
  generation === 1 ? effectKey : `${effectKey}~${generation}`;
