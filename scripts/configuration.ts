import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The page that is written: `node scripts/configuration.ts`. */
export const PAGE = new URL('../docs/configuration.md', import.meta.url);

/** Interfaces whose props are listed, by heading, and where they stand below lib/. */
const SECTIONS = [
  ['`WorkflowWorker`', 'constructs/workflow-worker-props.ts', 'WorkflowWorkerProps'],
  ['A provider: `providerSettings`', 'constructs/workflow-worker-props.ts', 'ProviderSettings'],
  ['A table of the domain: `aggregates`', 'constructs/workflow-worker-props.ts', 'AggregateTable'],
  ['A vendor: `telemetry`', 'constructs/worker-function.ts', 'FunctionTelemetry'],
  ['`WorkerStack`', 'worker-stack.ts', 'WorkerStackProps'],
  ['`WorkerAlarms`', 'constructs/worker-alarms.ts', 'WorkerAlarmsProps'],
  ['`WorkerDashboard`', 'constructs/worker-dashboard.ts', 'WorkerDashboardProps'],
  ['`WorkerQueries`', 'constructs/worker-queries.ts', 'WorkerQueriesProps'],
  ['`OperatorPolicy`', 'constructs/operator-policy.ts', 'OperatorPolicyProps'],
  ['`OutboxPipe`', 'constructs/outbox-pipe.ts', 'OutboxPipeProps'],
  ['`IngressApi`', 'constructs/ingress-api.ts', 'IngressApiProps'],
  ['A webhook: `webhooks`', 'constructs/ingress-api.ts', 'IngressWebhook'],
  ['`capacity()`', 'capacity.ts', 'CapacityInput'],
] as const;

/** Names of the interfaces that the page lists. */
export const LISTED: readonly string[] = SECTIONS.map(([, , name]) => name);

const INTRODUCTION = `# Configuration

Every prop of the constructs, from their own documentation. All faults of a worker, or of a worker's stack with its
alarms and outbox, are reported at once, each with its rule and its remedy. Written by \`node scripts/configuration.ts\`.
`;

interface Prop {
  readonly name: string;
  readonly required: boolean;
  readonly text: string;
  readonly fallback: string;
}

/** The page, from the sources. */
export function configurationPage(): string {
  const sections = SECTIONS.map(([heading, file, name]) => {
    const source = readFileSync(new URL(`../lib/${file}`, import.meta.url), 'utf8');
    const rows = propsOf(source, name).map(
      (prop) => `| \`${prop.name}\` | ${prop.required ? '**required**' : prop.fallback} | ${prop.text} |`,
    );
    return [`## ${heading}`, '', '| prop | default | what it is |', '| --- | --- | --- |', ...rows].join(
      '\n',
    );
  });
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`;
}

/** @throws Error when the interface is not there, or a prop of it has no documentation */
function propsOf(source: string, name: string): readonly Prop[] {
  const [, body] =
    new RegExp(`interface ${name}(?: extends \\w+)? \\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
  if (body === undefined) throw new Error(`The interface ${name} is not where it was`);
  const members = body.matchAll(/(?:^ {2}\/\*\*([\s\S]*?)\*\/\n)?^ {2}readonly (\w+)(\?)?:/gm);
  return [...members].map(([, comment, prop = '', optional]) => {
    const words = (comment ?? '')
      .replace(/^\s*\* ?/gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    const [text = '', fallback = ''] = words
      .split('@default')
      .map((part) => part.trim().replaceAll('|', '\\|'));
    const required = optional === undefined;
    if (text === '' || (!required && fallback === '')) {
      throw new Error(`${name}.${prop} needs a description and a @default`);
    }
    return { name: prop, required, text, fallback };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(PAGE, configurationPage());
