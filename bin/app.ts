import { fileURLToPath } from 'node:url';
import { App, Aws, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ANSWER_MODEL_ID } from '../lambdas/messages/answer-generation.ts';
import { messages } from '../lambdas/messages/index.ts';
import { providers } from '../lambdas/providers/index.ts';
import { WorkerChecks } from '../lib/checks/worker-checks.ts';
import { type Fault, throwFaults } from '../lib/faults.ts';
import { WorkerStack } from '../lib/worker-stack.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new WorkerChecks());

const faults: Fault[] = [];
/** A value of the context, `-c name=…`, or the default. */
function setting(prop: string, otherwise: string, pattern: RegExp, what: string): string {
  const value = String(app.node.tryGetContext(prop) ?? otherwise);
  const rule = `must be ${what}, is ${JSON.stringify(value)}`;
  if (!pattern.test(value)) faults.push({ prop, rule, remedy: 'Correct it, or leave it out' });
  return value;
}
const address = (name: string, otherwise: string) =>
  setting(name, otherwise, /^https?:\/\/./, 'an http or https address');

const stack = setting(
  'stack',
  'Stepwell',
  /^[A-Za-z][A-Za-z0-9-]*$/,
  'a name of letters, digits and hyphens',
);
// Metrics are found by it: a second worker in an account and Region needs another.
const workerName = setting('worker', 'stepwell', /^[A-Za-z][\w-]*$/, 'a name of letters, digits, _ and -');
const profile = setting('profile', 'production', /^(production|development)$/, 'production or development');
/** The bus that the events of plans go to; `default` is the account's own. Without one they expire in the table. */
const eventBus =
  app.node.tryGetContext('eventBus') === undefined
    ? undefined
    : setting('eventBus', 'default', /^[\w./-]+$/, 'the name of a bus, not its ARN');
// The examples' endpoints are nobody's: give your own by `-c paymentsUrl=…` and `-c noticesUrl=…`.
const paymentsUrl = address('paymentsUrl', 'https://payments.example');
const noticesUrl = address('noticesUrl', 'https://notices.example');
const emailIdentity = setting('emailIdentity', 'notices.example', /^\S+$/, 'a domain or an address');
throwFaults('The context', faults);

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

new WorkerStack(app, stack, {
  description: 'Stepwell: exactly-once work on Amazon SQS',
  terminationProtection: profile === 'production',
  ...(eventBus === undefined ? {} : { outboxTarget: eventBus }),
  worker: {
    workerName,
    profile: profile === 'development' ? profile : 'production',
    messages,
    messagesEntry: path('../lambdas/messages/index.ts'),
    sourcesEntry: path('../lambdas/sources/index.ts'),
    providers,
    providersEntry: path('../lambdas/providers/index.ts'),
    providerSettings: {
      Payments: {
        entry: path('../lambdas/providers/payments.ts'),
        environment: { PAYMENTS_URL: paymentsUrl },
      },
      Notices: {
        entry: path('../lambdas/providers/notices.ts'),
        environment: { NOTICES_URL: noticesUrl },
      },
      // Only what the examples ask for: one sender's e-mail (`-c emailIdentity=…`), and the model that answers.
      Email: {
        entry: path('../lambdas/providers/email.ts'),
        policy: [
          new PolicyStatement({
            actions: ['ses:SendEmail'],
            resources: [`arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/${emailIdentity}`],
          }),
        ],
      },
      Model: {
        entry: path('../lambdas/providers/model.ts'),
        policy: [
          new PolicyStatement({
            actions: ['bedrock:InvokeModel'],
            resources: [`arn:${Aws.PARTITION}:bedrock:${Aws.REGION}::foundation-model/${ANSWER_MODEL_ID}`],
          }),
        ],
      },
    },
  },
});
