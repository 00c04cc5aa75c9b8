import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { costPerMillion, US_EAST_1 } from '../../../cli/cost.ts';
import { METRICS } from '../../../lambdas/core/telemetry.ts';
import { providers } from '../../../lambdas/providers/index.ts';
import { WorkerStack } from '../../../lib/worker-stack.ts';
import { documentAt } from '../../helpers/documents.ts';
import { MESSAGES_ENTRY, quickApp, workerProps } from '../../helpers/worker-template.ts';

const { text } = documentAt('docs/cost.md');
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const rowOf = (name: string): readonly string[] => {
  const found = rows.find(([first]) => first === name);
  if (found === undefined) throw new Error(`docs/cost.md has no row ${name}`);
  return found;
};
const dollars = (cell: string | undefined): number =>
  Number(/\$([\d.]+)/.exec(cell ?? '')?.[1] ?? Number.NaN);

describe('docs/cost.md', () => {
  const stack = new WorkerStack(quickApp(), 'Shipped', {
    worker: workerProps({ providers, providersEntry: MESSAGES_ENTRY }),
  });
  const template = Template.fromStack(Stack.of(stack));
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  const watched = alarms.reduce((sum, { Properties }) => {
    const queries: readonly { readonly MetricStat?: unknown }[] = Properties.Metrics ?? [
      { MetricStat: true },
    ];
    return sum + queries.filter(({ MetricStat }) => MetricStat !== undefined).length;
  }, 0);

  it('counts the alarms of the shipped stack, and the metrics that they are paid by', () => {
    expect(rowOf('alarms')[1]).toBe(`${watched} metrics in ${alarms.length} alarms`);
    expect(dollars(rowOf('alarms')[3])).toBeCloseTo(watched * 0.1, 2);
    expect(text).toContain(`with four providers`);
    expect(providers).toHaveLength(4);
  });

  it('counts the dashboards, and the metrics that a busy worker emits', () => {
    const boards = Object.keys(template.findResources('AWS::CloudWatch::Dashboard')).length;
    expect(rowOf('dashboard')[1]).toBe(String(boards));
    expect(text).toContain(`each of its ${Object.keys(METRICS).length} metrics`);
  });

  it('adds the fixed sum up', () => {
    const from = rows.findIndex(([first]) => first === 'alarms');
    const to = rows.findIndex(([first]) => first === '**fixed sum**');
    const sum = rows.slice(from, to).reduce((all, row) => all + dollars(row[3]), 0);
    expect(dollars(rows[to]?.[3])).toBeCloseTo(sum, 2);
  });

  it.each([
    ['CaseDeadlineCalculationRequested', 1, 3],
    ['PaymentCaptureRequested', 4, 5],
  ])('prices a million %s as stepwell cost does', (_type, units, sum) => {
    const unitsOf = (name: string) => Number(rowOf(name)[units]);
    const lines = costPerMillion(
      {
        transitions: unitsOf('Step Functions transitions'),
        invocations: unitsOf('Lambda requests'),
        sqsRequests: unitsOf('SQS requests'),
        readUnits: unitsOf('DynamoDB read units'),
        writeUnits: unitsOf('DynamoDB write units'),
      },
      { milliseconds: 50, memoryMb: 512 },
      US_EAST_1,
    );
    for (const { what, units: counted, perMillion, pricePerMillion } of lines) {
      expect(unitsOf(what), what).toBeCloseTo(counted, 3);
      expect(dollars(rowOf(what)[2]), what).toBeCloseTo(pricePerMillion, 3);
      expect(dollars(rowOf(what)[sum]), what).toBeCloseTo(perMillion, 1);
    }
    const total = lines.reduce((all, { perMillion }) => all + perMillion, 0);
    expect(Math.abs(dollars(rowOf('total')[sum]) - total)).toBeLessThan(0.02);
  });
});
