import type { NewId } from '../../lambdas/core/clock.ts';

/** How a callback ended a task. */
export type Callback =
  | { readonly kind: 'success'; readonly output: string }
  | { readonly kind: 'failure'; readonly error: string | undefined; readonly cause: string | undefined };

interface Pending {
  readonly answered: Promise<Callback>;
  readonly answer: (callback: Callback) => void;
  readonly heartbeat: () => void;
}

/** Task tokens that are being waited for. */
export interface Tokens {
  /** A fresh token that names its execution, so that a late answer can be told from a wrong token. */
  create(executionArn: string): string;
  /** Starts to accept answers for a token; the same promise for the same token. */
  open(token: string, onHeartbeat: () => void): Promise<Callback>;
  /** Stops accepting answers. */
  close(token: string): void;
  /** @returns false when nothing waits for the token. */
  answer(token: string, callback: Callback): boolean;
  heartbeat(token: string): boolean;
  /** The execution a well-formed token was made for. */
  executionOf(token: string): string | undefined;
}

export function createTokens(newId: NewId): Tokens {
  const pending = new Map<string, Pending>();
  return {
    create: (executionArn) => Buffer.from(`${executionArn} ${newId()}`).toString('base64url'),
    open(token, onHeartbeat) {
      const known = pending.get(token);
      if (known !== undefined) return known.answered;
      const { promise, resolve } = Promise.withResolvers<Callback>();
      pending.set(token, { answered: promise, answer: resolve, heartbeat: onHeartbeat });
      return promise;
    },
    close: (token) => {
      pending.delete(token);
    },
    answer(token, callback) {
      const waiting = pending.get(token);
      if (waiting === undefined) return false;
      pending.delete(token);
      waiting.answer(callback);
      return true;
    },
    heartbeat(token) {
      const waiting = pending.get(token);
      waiting?.heartbeat();
      return waiting !== undefined;
    },
    executionOf(token) {
      const match = /^(arn:\S+:execution:\S+) \S+$/.exec(Buffer.from(token, 'base64url').toString());
      return match?.[1];
    },
  };
}
