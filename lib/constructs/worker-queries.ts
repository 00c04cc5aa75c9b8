import { Aws } from 'aws-cdk-lib';
import { type ILogGroup, QueryDefinition, QueryString } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { functionsOf } from './worker-names.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** Properties of {@link WorkerQueries}. */
export interface WorkerQueriesProps {
  /** The worker whose logs are asked. */
  readonly worker: WorkflowWorker;
}

/** The log groups of all functions of a worker. */
export const functionLogGroups = (worker: WorkflowWorker): readonly ILogGroup[] =>
  Object.values(functionsOf(worker)).map(({ logGroup }) => logGroup);

/** Parts of a Logs Insights query. */
export interface LogQuery {
  readonly fields?: readonly string[];
  readonly filterStatements?: readonly string[];
  readonly stats?: string;
  readonly sort?: string;
  readonly limit?: number;
}

/** Each failed attempt, and each end without success. */
const FAILED =
  'message in ["message_failed", "execution_abandoned"] or result in ["RetryableFailure", "UnknownFailure"]';

/** What an operator asks the logs, by the name under which it is saved. */
export const LOG_QUERIES = {
  'one-key': {
    fields: [
      '@timestamp',
      'message',
      'service',
      'result',
      'code',
      'executionName',
      'receiveCount',
      '@logStream',
    ],
    filterStatements: ['idempotencyKey = "KEY" or executionName = "EXECUTION"'],
    sort: '@timestamp asc',
    limit: 1_000,
  },
  'failed-several-times': {
    filterStatements: [FAILED],
    stats: 'count(*) as failures, latest(code) as lastCode by executionName',
    sort: 'failures desc',
    limit: 50,
  },
  'hot-aggregate': {
    filterStatements: ['message = "message_started"'],
    stats: 'count(*) as messages by aggregateId',
    sort: 'messages desc',
    limit: 20,
  },
  'hot-tenant': {
    filterStatements: ['message = "message_started"', 'ispresent(tenantId)'],
    stats: 'count(*) as messages by tenantId',
    sort: 'messages desc',
    limit: 20,
  },
  'failures-by-release': {
    filterStatements: ['ispresent(code)'],
    stats: 'count(*) as failures by release, code',
    sort: 'failures desc',
    limit: 50,
  },
} as const satisfies Readonly<Record<string, LogQuery>>;
export type LogQueryName = keyof typeof LOG_QUERIES;

/** A query as Logs Insights reads it, line by line. */
export function queryLines(name: LogQueryName): readonly string[] {
  const { fields, filterStatements, stats, sort, limit }: LogQuery = LOG_QUERIES[name];
  return [
    ...(fields === undefined ? [] : [`fields ${fields.join(', ')}`]),
    ...(filterStatements ?? []).map((statement) => `filter ${statement}`),
    ...(stats === undefined ? [] : [`stats ${stats}`]),
    ...(sort === undefined ? [] : [`sort ${sort}`]),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ];
}

/** Queries over the logs of a worker's functions, ready in the console of Logs Insights. */
export class WorkerQueries extends Construct {
  readonly queries: readonly QueryDefinition[];

  constructor(scope: Construct, id: string, { worker }: WorkerQueriesProps) {
    super(scope, id);
    const logGroups = [...functionLogGroups(worker)];
    this.queries = Object.entries(LOG_QUERIES).map(([name, query]: [string, LogQuery]) => {
      const { fields, filterStatements, stats, ...rest } = query;
      return new QueryDefinition(this, name, {
        // A name is required. Two stacks have two names, so that neither overwrites the other's query.
        queryDefinitionName: `${Aws.STACK_NAME}/${worker.workerName}/${name}`,
        queryString: new QueryString({
          ...rest,
          ...(stats === undefined ? {} : { statsStatements: [stats] }),
          ...(fields === undefined ? {} : { fields: [...fields] }),
          ...(filterStatements === undefined ? {} : { filterStatements: [...filterStatements] }),
        }),
        logGroups,
      });
    });
  }
}
