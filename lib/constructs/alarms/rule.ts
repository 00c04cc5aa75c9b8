import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** Sections of docs/runbooks.md that alarms lead to. */
export const RUNBOOK_SECTIONS = ['backlog', 'dlq', 'quarantine', 'stuck', 'in-doubt', 'throttled'] as const;
export type RunbookSection = (typeof RUNBOOK_SECTIONS)[number];

/** One alarm: what it says, what it watches and when it fires. */
export interface AlarmRule {
  readonly section: RunbookSection;
  readonly what: string;
  readonly metric: IMetric;
  /** Alarms at this value. */
  readonly from: number;
  /** Periods of the metric in a row. @default 1 */
  readonly periods?: number;
  readonly below?: true;
}

/** Rules by the name of their alarm. */
export type AlarmRules = Readonly<Record<string, AlarmRule>>;

export const MINUTE = Duration.minutes(1);
