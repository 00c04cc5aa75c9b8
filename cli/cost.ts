/** What one message uses, on average. */
export interface MessageUsage {
  /** Billed state transitions, retries included. */
  readonly transitions: number;
  readonly invocations: number;
  readonly sqsRequests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What a run on this machine cannot say of functions on AWS. */
export interface FunctionAssumption {
  readonly milliseconds: number;
  readonly memoryMb: number;
}

/** US dollars a unit. */
export interface Prices {
  readonly region: string;
  /** When they were read. */
  readonly asOf: string;
  readonly transition: number;
  readonly invocation: number;
  /** Arm. */
  readonly gbSecond: number;
  /** Standard queue, up to 64 KB a request. */
  readonly sqsRequest: number;
  /** On demand. */
  readonly readUnit: number;
  readonly writeUnit: number;
}

const MILLION = 1_000_000;

export const US_EAST_1: Prices = {
  region: 'us-east-1',
  asOf: 'October 2026',
  transition: 25 / MILLION,
  invocation: 0.2 / MILLION,
  gbSecond: 0.0000133334,
  sqsRequest: 0.4 / MILLION,
  readUnit: 0.125 / MILLION,
  writeUnit: 0.625 / MILLION,
};

/** One line of the bill. */
export interface CostLine {
  readonly what: string;
  /** Units a message. */
  readonly units: number;
  /** US dollars a million units. */
  readonly pricePerMillion: number;
  /** US dollars a million messages. */
  readonly perMillion: number;
}

/** What a million messages cost, service by service. */
export function costPerMillion(
  usage: MessageUsage,
  functions: FunctionAssumption,
  prices: Prices,
): readonly CostLine[] {
  const gbSeconds = usage.invocations * (functions.milliseconds / 1000) * (functions.memoryMb / 1024);
  const line = (what: string, units: number, price: number): CostLine => ({
    what,
    units,
    pricePerMillion: price * MILLION,
    perMillion: units * price * MILLION,
  });
  return [
    line('Step Functions transitions', usage.transitions, prices.transition),
    line('Lambda requests', usage.invocations, prices.invocation),
    line('Lambda GB-seconds', gbSeconds, prices.gbSecond),
    line('SQS requests', usage.sqsRequests, prices.sqsRequest),
    line('DynamoDB write units', usage.writeUnits, prices.writeUnit),
    line('DynamoDB read units', usage.readUnits, prices.readUnit),
  ];
}

/** US dollars a million messages, all lines together. */
export const totalOf = (lines: readonly CostLine[]): number =>
  lines.reduce((sum, { perMillion }) => sum + perMillion, 0);
