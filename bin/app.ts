import { fileURLToPath } from 'node:url';
import { App, Aws, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigurationError } from '../lambdas/core/errors.ts';
import { ANSWER_MODEL_ID } from '../lambdas/messages/answer-generation.ts';
import { messages } from '../lambdas/messages/index.ts';
import { providers } from '../lambdas/providers/index.ts';
import { WorkerChecks } from '../lib/checks/worker-checks.ts';
import { WorkerStack } from '../lib/worker-stack.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new WorkerChecks());
const profile: unknown = app.node.tryGetContext('profile') ?? 'production';
if (profile !== 'production' && profile !== 'development') {
  throw new ConfigurationError('The context value profile must be production or development');
}
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const setting = (name: string, otherwise: string) => String(app.node.tryGetContext(name) ?? otherwise);
/** The bus that the events of plans go to; `default` is the account's own. Without one they expire in the table. */
const eventBus: unknown = app.node.tryGetContext('eventBus');

new WorkerStack(app, setting('stack', 'Stepwell'), {
  description: 'Stepwell: exactly-once work on Amazon SQS',
  terminationProtection: profile === 'production',
  ...(eventBus === undefined ? {} : { outboxTarget: String(eventBus) }),
  worker: {
    // Metrics are found by it: a second worker in an account and Region needs another.
    workerName: setting('worker', 'stepwell'),
    profile,
    messages,
    messagesEntry: path('../lambdas/messages/index.ts'),
    sourcesEntry: path('../lambdas/sources/index.ts'),
    providers,
    providersEntry: path('../lambdas/providers/index.ts'),
    // The examples' endpoints are nobody's: give your own by `-c paymentsUrl=…` and `-c noticesUrl=…`.
    providerSettings: {
      Payments: {
        entry: path('../lambdas/providers/payments.ts'),
        environment: { PAYMENTS_URL: setting('paymentsUrl', 'https://payments.example') },
      },
      Notices: {
        entry: path('../lambdas/providers/notices.ts'),
        environment: { NOTICES_URL: setting('noticesUrl', 'https://notices.example') },
      },
      // Only what the examples ask for: one sender's e-mail (`-c emailIdentity=…`), and the model that answers.
      Email: {
        entry: path('../lambdas/providers/email.ts'),
        policy: [
          new PolicyStatement({
            actions: ['ses:SendEmail'],
            resources: [
              `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/${setting('emailIdentity', 'notices.example')}`,
            ],
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
