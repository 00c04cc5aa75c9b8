import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** Sections of docs/runbooks.md that alarms lead to. */
export const RUNBOOK_SECTIONS = ['backlog', 'dlq', 'quarantine', 'stuck', 'in-doubt', 'throttled'] as const;
export type RunbookSection = (typeof RUNBOOK_SECTIONS)[number];

/** One alarm: what it says, what it watches and when it fires. */
export interface AlarmRule {
  /** Where the runbooks go on. */
  readonly section: RunbookSection;
  /** What it means, as the alarm's description says it. */
  readonly what: string;
  readonly metric: IMetric;
  /** Alarms from this value on. */
  readonly from: number;
  /** Periods of the metric in a row. @default 1 */
  readonly periods?: number;
  /** Alarms below that value, and not from it on. @default false */
  readonly below?: true;
}

/** Rules by the name of their alarm. */
export type AlarmRules = Readonly<Record<string, AlarmRule>>;

export const MINUTE = Duration.minutes(1);
