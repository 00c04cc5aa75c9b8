import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { WorkerAlarms } from '../../lib/constructs/worker-alarms.ts';
import { WorkerDashboard } from '../../lib/constructs/worker-dashboard.ts';
import { METRICS_NAMESPACE } from '../../lib/constructs/worker-function.ts';
import { EXPECTED_METRICS } from '../helpers/expected-metrics.ts';
import { testWorker } from '../helpers/template.ts';

interface MetricOfAlarm {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string }[];
}

const nameOf = (metric: string, dimensions: readonly string[]) =>
  `${metric} by ${[...dimensions].sort().join(', ')}`;
/** Metrics and dimensions as they are emitted: CloudWatch finds no others, and an alarm on them stays silent. */
const emitted = EXPECTED_METRICS.map(([metric, , dimensions]) =>
  nameOf(metric, ['service', ...Object.keys(dimensions)]),
);

const { stack, worker } = testWorker({ maxInFlight: 10 });
new WorkerAlarms(stack, 'Alarms', { worker, maxInFlight: 10, mostMessagesPerDay: 1_000_000 });
new WorkerDashboard(stack, 'Dashboard', { worker });
const template = Template.fromStack(stack);

describe('a metric of the worker', () => {
  it('is watched by alarms under the dimensions that it is emitted with', () => {
    const watched = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
      .flatMap(({ Properties }): readonly MetricOfAlarm[] => [
        Properties,
        ...(Properties.Metrics ?? []).map(
          ({ MetricStat }: { readonly MetricStat?: { readonly Metric: MetricOfAlarm } }) =>
            MetricStat?.Metric ?? {},
        ),
      ])
      .filter(({ Namespace }) => Namespace === METRICS_NAMESPACE)
      .map(({ MetricName = '', Dimensions = [] }) =>
        nameOf(
          MetricName,
          Dimensions.map(({ Name }) => Name),
        ),
      );

    expect(watched.length).toBeGreaterThan(5);
    expect(watched.filter((name) => !emitted.includes(name))).toEqual([]);
  });

  it('is drawn by the dashboard under the dimensions that it is emitted with', () => {
    const text = JSON.stringify(template.findResources('AWS::CloudWatch::Dashboard')).replaceAll('\\', '');
    const searched = [...text.matchAll(/\{Stepwell,([\w,]+)\} MetricName="(\w+)"/g)].map(
      ([, dimensions = '', metric = '']) => nameOf(metric, dimensions.split(',')),
    );
    const single = [...text.matchAll(/\["Stepwell","(\w+)"((?:,"[^"]*","[^"]*")*)/g)].map(
      ([, metric = '', dimensions = '']) =>
        nameOf(
          metric,
          [...dimensions.matchAll(/,"([^"]*)","[^"]*"/g)].map(([, dimension = '']) => dimension),
        ),
    );

    expect(searched.length).toBeGreaterThan(5);
    expect(single.length).toBeGreaterThan(10);
    expect([...searched, ...single].filter((name) => !emitted.includes(name))).toEqual([]);
  });
});
