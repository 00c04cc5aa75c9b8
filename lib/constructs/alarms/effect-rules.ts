import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import { workerMetric } from '../worker-metrics.ts';
import type { AlarmRule, AlarmRules } from './rule.ts';

/** Alarms on calls of the providers. */
export function effectRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker, leastCacheHitPercent = {} } = props;
  const inDoubt = Object.keys(worker.providers).map((provider): [string, AlarmRule] => [
    `InDoubt${provider}`,
    {
      section: 'in-doubt',
      what: `a call of ${provider} may or may not have happened: a person has to say`,
      metric: workerMetric(worker.workerName, 'EffectsInDoubt', { dimensions: { provider } }),
      from: 1,
    },
  ]);
  const caches = Object.entries(leastCacheHitPercent).map(([provider, percent]): [string, AlarmRule] => [
    `CacheHits${provider}`,
    {
      section: 'throttled',
      what: `less than ${percent} % of the answers of ${provider} come from the effect log`,
      metric: cacheHitPercent(worker.workerName, provider),
      from: percent,
      periods: 3,
      below: true,
    },
  ]);
  return Object.fromEntries([...inDoubt, ...caches]);
}

function cacheHitPercent(workerName: string, provider: string): MathExpression {
  const period = Duration.minutes(5);
  const metric = (name: 'EffectCacheHits' | 'EffectCalls', dimensions: Record<string, string>) =>
    workerMetric(workerName, name, { period, dimensions: { provider, ...dimensions } });
  return new MathExpression({
    expression: '100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(calls, 0))',
    usingMetrics: {
      hits: metric('EffectCacheHits', {}),
      calls: metric('EffectCalls', { result: 'answered' }),
    },
    period,
    label: `answers from the effect log, ${provider} (%)`,
  });
}
