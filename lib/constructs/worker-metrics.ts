import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS, type MetricName } from '../../lambdas/core/telemetry.ts';
import { METRICS_NAMESPACE } from './worker-function.ts';

/** How a metric of the worker is read. */
export interface WorkerMetricOptions {
  /** Statistic, as CloudWatch spells it. @default 'Sum' */
  readonly statistic?: string;
  /** @default Duration.minutes(1) */
  readonly period?: Duration;
  /** Dimensions beside the worker's name, for metrics that have some. */
  readonly dimensions?: Readonly<Record<string, string>>;
  /** What the graph calls it. @default the metric's name */
  readonly label?: string;
}

/** A metric that the worker's functions emit. Powertools puts the worker's name into the dimension `service`. */
export function workerMetric(
  workerName: string,
  metricName: MetricName,
  options: WorkerMetricOptions = {},
): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { service: workerName, ...options.dimensions },
    statistic: options.statistic ?? 'Sum',
    period: options.period ?? Duration.minutes(1),
    ...(options.label === undefined ? {} : { label: options.label }),
  });
}

/**
 * A metric by the values of its further dimensions, whichever there are. For graphs only: CloudWatch allows no
 * searches in alarms.
 */
export function workerMetricBy(
  workerName: string,
  metricName: MetricName,
  dimensions: readonly string[],
  statistic = 'Sum',
): MathExpression {
  const schema = [METRICS_NAMESPACE, ...dimensions, 'service'].join(',');
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" service="${workerName}"', '${statistic}', 60)`,
    usingMetrics: {},
    label: `${metricName} (${METRICS[metricName]})`,
  });
}
