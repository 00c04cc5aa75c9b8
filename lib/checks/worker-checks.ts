import { readFileSync } from 'node:fs';
import type {
  IPolicyValidationContext,
  IPolicyValidationPlugin,
  PolicyValidationPluginReport,
} from 'aws-cdk-lib';
import { VISIBILITY_FACTOR } from '../constructs/workflow-worker-settings.ts';

/** A resource as a template has it. */
interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
type Resources = Readonly<Record<string, TemplateResource>>;

/** What a template breaks, and where. */
export interface Violation {
  readonly rule: RuleName;
  readonly resource: string;
  readonly property: string;
}

const RULES = {
  DeadLetterQueueHasAlarm: {
    description:
      'A queue from which nothing moves messages on is where they end: an alarm must tell of the first one',
    fix: 'Add WorkerAlarms, or an alarm on ApproximateNumberOfMessagesVisible of the queue',
  },
  QueueHasDeadLetterQueue: {
    description:
      'A queue that a function reads must have a dead-letter queue: without one a poisonous message returns for days',
    fix: 'Give the queue a redrive policy',
  },
  FunctionEndsBeforeVisibility: {
    description:
      'A function that reads a queue must have a time-out of at most a sixth of its visibility time-out, less the batching window: else messages return while they are worked on',
    fix: 'Raise the queue’s visibility time-out, or lower the function’s time-out',
  },
  StreamHasTwoReaders: {
    description:
      'A shard of a DynamoDB stream bears two readers, and the worker’s waker and the outbox pipe are two: a third makes all of them fall behind',
    fix: 'Let the third reader take the events that the outbox pipe publishes, or a Kinesis stream of the table',
  },
} as const;
type RuleName = keyof typeof RULES;

const QUEUE = 'AWS::SQS::Queue';
const ALARM = 'AWS::CloudWatch::Alarm';
const PIPE = 'AWS::Pipes::Pipe';
const EVENT_SOURCE = 'AWS::Lambda::EventSourceMapping';
/** What SQS and Lambda take where a template says nothing. */
const DEFAULT_VISIBILITY_SECONDS = 30;
const DEFAULT_TIMEOUT_SECONDS = 3;
const MAX_STREAM_READERS = 2;

/**
 * The worker's own rules, held against the templates of an app:
 * `Validations.of(app).addPlugins(new WorkerChecks())`. They see what was added beside the constructs, too.
 */
export class WorkerChecks implements IPolicyValidationPlugin {
  readonly name = 'Stepwell';
  readonly ruleIds: string[] = Object.keys(RULES);

  validate(context: IPolicyValidationContext): PolicyValidationPluginReport {
    const violations = context.templatePaths.flatMap((templatePath) => {
      const { Resources = {} }: { readonly Resources?: Resources } = JSON.parse(
        readFileSync(templatePath, 'utf8'),
      );
      return findViolations(Resources).map(({ rule, resource, property }) => ({
        ruleName: rule,
        ...RULES[rule],
        violatingResources: [
          { resourceLogicalId: resource, templatePath, locations: [`Properties/${property}`] },
        ],
      }));
    });
    return { success: violations.length === 0, violations };
  }
}

/** What is wrong with the resources of a template. */
export function findViolations(resources: Resources): readonly Violation[] {
  const violations: Violation[] = [];
  const alarmed = alarmedQueues(resources);
  const sources = entriesOf(resources, EVENT_SOURCE);
  for (const [resource, { Properties = {} }] of entriesOf(resources, QUEUE)) {
    const readers = sources.filter(([, source]) => refersTo(source.Properties?.EventSourceArn) === resource);
    const ends = Properties.RedrivePolicy === undefined;
    if (ends && readers.length > 0) {
      violations.push({ rule: 'QueueHasDeadLetterQueue', resource, property: 'RedrivePolicy' });
    } else if (ends && !alarmed.has(resource)) {
      violations.push({ rule: 'DeadLetterQueueHasAlarm', resource, property: 'QueueName' });
    }
    for (const [, source] of readers) {
      const target = refersTo(source.Properties?.FunctionName);
      const timeout = numberOr(resources[target ?? '']?.Properties?.Timeout, DEFAULT_TIMEOUT_SECONDS);
      const window = numberOr(source.Properties?.MaximumBatchingWindowInSeconds, 0);
      const visibility = numberOr(Properties.VisibilityTimeout, DEFAULT_VISIBILITY_SECONDS);
      if (visibility < VISIBILITY_FACTOR * timeout + window) {
        violations.push({ rule: 'FunctionEndsBeforeVisibility', resource, property: 'VisibilityTimeout' });
      }
    }
  }
  return [...violations, ...crowdedStreams(resources)];
}

/** The third reader of a stream, and each beyond it. */
function crowdedStreams(resources: Resources): readonly Violation[] {
  const sources = [
    ...entriesOf(resources, EVENT_SOURCE).map(
      ([resource, { Properties }]) => [resource, 'EventSourceArn', Properties?.EventSourceArn] as const,
    ),
    ...entriesOf(resources, PIPE).map(
      ([resource, { Properties }]) => [resource, 'Source', Properties?.Source] as const,
    ),
  ];
  const readers = new Map<string, number>();
  return sources.flatMap(([resource, property, source]) => {
    const stream = JSON.stringify(source) ?? '';
    if (!/:dynamodb:|"StreamArn"/.test(stream)) return [];
    const count = (readers.get(stream) ?? 0) + 1;
    readers.set(stream, count);
    return count > MAX_STREAM_READERS ? [{ rule: 'StreamHasTwoReaders', resource, property } as const] : [];
  });
}

function alarmedQueues(resources: Resources): ReadonlySet<string> {
  const watched = entriesOf(resources, ALARM).flatMap(([, { Properties = {} }]) => {
    const { MetricName, Dimensions } = Properties;
    if (MetricName !== 'ApproximateNumberOfMessagesVisible' || !Array.isArray(Dimensions)) return [];
    return Dimensions.map((dimension: { readonly Value?: unknown }) => refersTo(dimension.Value) ?? '');
  });
  return new Set(watched);
}

const entriesOf = (resources: Resources, type: string) =>
  Object.entries(resources).filter(([, { Type }]) => Type === type);

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** The logical id behind a `Ref` or `Fn::GetAtt`; undefined for anything else, such as an imported resource. */
function refersTo(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('Ref' in value && typeof value.Ref === 'string') return value.Ref;
  const attribute = 'Fn::GetAtt' in value ? value['Fn::GetAtt'] : undefined;
  const [id]: readonly unknown[] = Array.isArray(attribute) ? attribute : [];
  return typeof id === 'string' ? id : undefined;
}
