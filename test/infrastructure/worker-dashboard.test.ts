import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../lambdas/core/telemetry.ts';
import { BACKLOG_QUESTIONS, WorkerDashboard } from '../../lib/constructs/worker-dashboard.ts';
import { LOG_QUERIES, queryLines, WorkerQueries } from '../../lib/constructs/worker-queries.ts';
import { testWorker } from '../helpers/template.ts';

interface Widget {
  readonly type: string;
  readonly properties: {
    readonly title?: string;
    readonly query?: string;
    readonly metrics?: readonly unknown[];
  };
}

/** The widgets, with a name in place of what CloudFormation resolves later. */
function widgetsOf(template: Template): readonly Widget[] {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: readonly unknown[] = dashboard?.Properties.DashboardBody['Fn::Join'][1];
  const body: { readonly widgets: readonly Widget[] } = JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : 'resolved')).join(''),
  );
  return body.widgets;
}

describe('WorkerDashboard', () => {
  const { stack, worker } = testWorker();
  new WorkerDashboard(stack, 'Board', { worker });
  new WorkerQueries(stack, 'Queries', { worker });
  const template = Template.fromStack(stack);
  const widgets = widgetsOf(template);
  const asked = (question: string) =>
    widgets.filter(({ properties }) => properties.title?.startsWith(question));

  it.each([
    [0, ['NumberOfMessagesSent']],
    [1, ['Invocations', 'MessagesStarted', 'InFlight', 'BreakerOpen']],
    [2, ['RetryableFailures', 'TerminalFailures', 'Errors', 'ExecutionsFailed']],
    [3, ['CommitLatency', 'CommitConflicts', 'ThrottledRequests']],
    [4, ['ReceiveCount']],
    [5, ['ApproximateNumberOfMessagesVisible']],
    [6, ['ApproximateAgeOfOldestMessage', 'EndToEndLatency']],
    [7, ['tenantId', 'aggregateId']],
    [8, ['release', 'code']],
    [9, ['EffectCalls', 'EffectLatency', 'StartsThrottled']],
  ])('answers question %i of the backlog runbook', (index, answers) => {
    const found = asked(BACKLOG_QUESTIONS[index] ?? 'none');
    expect(found.length).toBeGreaterThan(0);
    const text = JSON.stringify(found);
    for (const answer of answers) expect(text).toContain(answer);
  });

  it('asks in the order of the runbook', () => {
    const titles = widgets.flatMap(({ properties }) => properties.title ?? []);
    const numbers = titles.map((title) => Number.parseInt(title, 10));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('draws only metrics of the worker that its functions emit', () => {
    const text = JSON.stringify(widgets);
    const single = [...text.matchAll(/"Stepwell","(\w+)"/g)].map(([, name]) => name ?? '');
    const searched = [...text.matchAll(/MetricName=\\+"(\w+)/g)].map(([, name]) => name ?? '');
    expect(single.length).toBeGreaterThan(10);
    expect(searched.length).toBeGreaterThan(5);
    for (const name of [...single, ...searched]) expect(Object.keys(METRICS)).toContain(name);
    // A metric with further dimensions has no data under the worker's name alone.
    for (const name of single) expect(searched).not.toContain(name);
  });

  it('searches for metrics of this worker alone', () => {
    const text = JSON.stringify(widgets).replaceAll('\\', '');
    const searches = [...text.matchAll(/SEARCH\('([^']*)'/g)].map(([, search]) => search);
    expect(searches.length).toBeGreaterThan(5);
    for (const search of searches) expect(search).toMatch(/ service="Worker"$/);
  });

  it('has no name of its own, so that a second stack has a second dashboard', () => {
    template.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: Match.absent() });
  });
});

describe('WorkerQueries', () => {
  const { stack, worker } = testWorker();
  new WorkerQueries(stack, 'Queries', { worker });
  const template = Template.fromStack(stack);

  it.each(Object.keys(LOG_QUERIES))('saves %s over the logs of all functions', (name) => {
    const saved = Object.values(template.findResources('AWS::Logs::QueryDefinition')).filter(
      ({ Properties }) => JSON.stringify(Properties.Name).includes(`/${name}"`),
    );
    expect(saved).toHaveLength(1);
    expect(saved[0]?.Properties.LogGroupNames).toHaveLength(6);
  });

  it('reads as Logs Insights does, one command a line', () => {
    expect(queryLines('hot-tenant')).toEqual([
      'filter message = "message_started"',
      'filter ispresent(tenantId)',
      'stats count(*) as messages by tenantId',
      'sort messages desc',
      'limit 20',
    ]);
  });
});
