/** What the surroundings of a worker can bear, and what a message costs them. */
export interface CapacityInput {
  /** Seconds that one starter is busy with a batch. @default 0.3 */
  readonly batchSeconds?: number;
  /** Messages of a batch. @default 10 */
  readonly batchSize?: number;
  /** Writes a second that the database bears. @default no limit */
  readonly databaseWritesPerSecond?: number;
  /** Writes of one message: the inbox row twice, and what a plan writes. @default 4 */
  readonly writesPerMessage?: number;
  /** Calls a second that the provider behind the effects bears. @default no limit */
  readonly downstreamCallsPerSecond?: number;
  /** Effects of one message. @default 1 */
  readonly callsPerMessage?: number;
  /** The account's refill of state transitions. @default 800: the least of all Regions; 5,000 in the large ones */
  readonly stateTransitionsPerSecond?: number;
  /** Transitions of one message: Plan and Commit, and two for every effect, failure or wait. @default 2 */
  readonly transitionsPerMessage?: number;
  /** The account's refill of StartExecution. @default 150: the least of all Regions; 300 in the large ones */
  readonly startExecutionsPerSecond?: number;
  /** Functions that the account lets run at once, less what others need. @default 1,000 */
  readonly lambdaConcurrency?: number;
  /** Seconds that a message keeps functions busy: Plan, Commit and effects together. @default 0.2 */
  readonly functionSecondsPerMessage?: number;
  /** Share of commits that lose a race and are planned again, 0 up to below 1. @default 0 */
  readonly lockContention?: number;
}

/** Result of {@link capacity}. */
export interface Capacity {
  /** For the prop of that name; 2 to 1,000, as Lambda allows. */
  readonly maxConcurrency: number;
  /** What the tightest limit lets through. */
  readonly messagesPerSecond: number;
  /** Name of the tightest limit. */
  readonly bindingConstraint: string;
  /** Messages a second that each limit alone would let through. */
  readonly limits: Readonly<Record<string, number>>;
  /** The arithmetic in one sentence, for people. */
  readonly explanation: string;
}

const LEAST_CONCURRENCY = 2;
const MOST_CONCURRENCY = 1_000;

/**
 * Derives how many starters may work at once, so that the queue goes on slowing down what lies behind it: each limit
 * is turned into messages a second, the smallest one binds, and a starter's share of it gives the number.
 *
 * @throws RangeError naming each number that is not positive, or a contention outside 0 up to below 1
 */
export function capacity(input: CapacityInput): Capacity {
  checkInput(input);
  const { batchSeconds = 0.3, batchSize = 10, lockContention = 0 } = input;
  // A lost race repeats Plan and Commit, their writes and their transitions.
  const rounds = 1 / (1 - lockContention);
  const perSecond = (limit: number | undefined, each: number) =>
    limit === undefined ? Number.POSITIVE_INFINITY : limit / each;
  const limits: Readonly<Record<string, number>> = {
    databaseWritesPerSecond: perSecond(input.databaseWritesPerSecond, (input.writesPerMessage ?? 4) * rounds),
    downstreamCallsPerSecond: perSecond(input.downstreamCallsPerSecond, input.callsPerMessage ?? 1),
    stateTransitionsPerSecond: perSecond(
      input.stateTransitionsPerSecond ?? 800,
      (input.transitionsPerMessage ?? 2) * rounds,
    ),
    startExecutionsPerSecond: input.startExecutionsPerSecond ?? 150,
    lambdaConcurrency: perSecond(
      input.lambdaConcurrency ?? 1_000,
      (input.functionSecondsPerMessage ?? 0.2) * rounds + batchSeconds / batchSize,
    ),
  };
  const [bindingConstraint, messagesPerSecond] = Object.entries(limits).reduce((tightest, entry) =>
    entry[1] < tightest[1] ? entry : tightest,
  );
  const starters = (messagesPerSecond * batchSeconds) / batchSize;
  const maxConcurrency = Math.min(MOST_CONCURRENCY, Math.max(LEAST_CONCURRENCY, Math.floor(starters)));
  const bounded =
    starters < LEAST_CONCURRENCY
      ? `, raised to the least that Lambda allows: ${((LEAST_CONCURRENCY * batchSize) / batchSeconds).toFixed(0)} messages a second may start, so set maxInFlight as well`
      : '';
  return {
    maxConcurrency,
    messagesPerSecond,
    bindingConstraint,
    limits,
    explanation: `${bindingConstraint} binds at ${messagesPerSecond.toFixed(1)} messages a second: × ${batchSeconds} s a batch / ${batchSize} messages = ${starters.toFixed(2)}, so maxConcurrency is ${maxConcurrency}${bounded}`,
  };
}

function checkInput({ lockContention = 0, ...numbers }: CapacityInput): void {
  const wrong = Object.entries(numbers).filter(([, value]) => !(Number.isFinite(value) && value > 0));
  const faults = wrong.map(([name, value]) => `${name} must be above 0, is ${value}`);
  if (!(lockContention >= 0 && lockContention < 1)) {
    faults.push(`lockContention must be from 0 to below 1, is ${lockContention}`);
  }
  if (faults.length > 0) throw new RangeError(`capacity: ${faults.join('; ')}`);
}
