import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Template } from '../template.ts';

/** One retrier, with the service's defaults filled in. */
export interface Retrier {
  readonly errorEquals: readonly string[];
  readonly intervalSeconds: number;
  readonly maxAttempts: number;
  readonly backoffRate: number;
  readonly maxDelaySeconds: number | undefined;
  readonly fullJitter: boolean;
}

/** One catcher. */
export interface Catcher {
  readonly errorEquals: readonly string[];
  readonly next: string;
  readonly assign: Assignments | undefined;
  readonly output: Template | undefined;
}

/** Variables to assign, in the order of the definition. */
export type Assignments = readonly (readonly [string, Template])[];

interface Common {
  readonly name: string;
  readonly assign: Assignments | undefined;
  readonly output: Template | undefined;
  /** The following state; undefined when this one ends its sequence. */
  readonly next: string | undefined;
}

interface Retryable {
  readonly retry: readonly Retrier[];
  readonly catch: readonly Catcher[];
}

export interface PassState extends Common {
  readonly type: 'Pass';
}

export interface SucceedState extends Common {
  readonly type: 'Succeed';
}

export interface FailState extends Common {
  readonly type: 'Fail';
  readonly error: Template | undefined;
  readonly cause: Template | undefined;
}

export interface WaitState extends Common {
  readonly type: 'Wait';
  readonly seconds: Template | undefined;
  readonly timestamp: Template | undefined;
}

export interface ChoiceRule {
  readonly condition: Template;
  readonly location: string;
  readonly next: string;
  readonly assign: Assignments | undefined;
  readonly output: Template | undefined;
}

export interface ChoiceState extends Common {
  readonly type: 'Choice';
  readonly choices: readonly ChoiceRule[];
  readonly default: string | undefined;
}

/** What a Task calls. */
export type Integration =
  | { readonly kind: 'function'; readonly arn: string }
  | {
      readonly kind: 'service';
      /** `lambda`, `dynamodb`, `sqs`, or `aws-sdk:<service>`. */
      readonly resourceType: string;
      /** The action, with `.waitForTaskToken` where it has it. */
      readonly resource: string;
      readonly action: string;
      readonly waitForToken: boolean;
    };

export interface TaskState extends Common, Retryable {
  readonly type: 'Task';
  readonly integration: Integration;
  readonly arguments: Template | undefined;
  readonly timeoutSeconds: Template | undefined;
  readonly heartbeatSeconds: Template | undefined;
}

export interface ParallelState extends Common, Retryable {
  readonly type: 'Parallel';
  readonly arguments: Template | undefined;
  readonly branches: readonly Sequence[];
}

export interface MapState extends Common, Retryable {
  readonly type: 'Map';
  readonly items: Template | undefined;
  readonly itemSelector: Template | undefined;
  readonly processor: Sequence;
  readonly maxConcurrency: Template | undefined;
  readonly toleratedFailureCount: Template | undefined;
  readonly toleratedFailurePercentage: Template | undefined;
}

export type State =
  | PassState
  | SucceedState
  | FailState
  | WaitState
  | ChoiceState
  | TaskState
  | ParallelState
  | MapState;

/** States with a start: the machine itself, a branch, or a Map's processor. */
export interface Sequence {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, State>;
}

/** A definition ready to run. */
export interface Definition extends Sequence {
  /** The definition as text, as DescribeStateMachine gives it. */
  readonly text: string;
  readonly source: JsonObject;
  readonly timeoutSeconds: number | undefined;
}
