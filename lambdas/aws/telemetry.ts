import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, type Telemetry } from '../core/telemetry.ts';
import type { Environment } from './env.ts';

/**
 * JSON log lines and EMF metrics on standard output, by Powertools. Service and namespace come from its own
 * environment variables; `release` is on every line, so that "did a deploy change this" has an answer.
 */
export function createTelemetry(env: Environment): Telemetry {
  const logger = new Logger({ persistentKeys: { release: env.RELEASE ?? 'unknown' } });
  const metrics = new Metrics();
  const line = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return {
    info: (message, fields) => logger.info(message, line(fields)),
    warn: (message, fields) => logger.warn(message, line(fields)),
    error: (message, fields) => logger.error(message, line(fields)),
    metric(name, value, dimensions) {
      const unit = MetricUnit[METRICS[name]];
      if (dimensions === undefined) {
        metrics.addMetric(name, unit, value);
        return;
      }
      const single = metrics.singleMetric();
      for (const [dimension, entry] of Object.entries(dimensions)) single.addDimension(dimension, entry);
      single.addMetric(name, unit, value);
    },
    // Publishing nothing would write a warning, in no JSON, at most invocations of some functions.
    flush() {
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}
