/** Where every time comes from, so that tests and simulations run in virtual time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A number in [0, 1), as `Math.random` gives. */
export type Random = () => number;

/** A fresh unique id, as `crypto.randomUUID` gives. */
export type NewId = () => string;
