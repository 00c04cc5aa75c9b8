import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigurationError } from '../lambdas/core/errors.ts';
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

new WorkerStack(app, setting('stack', 'Stepwell'), {
  description: 'Stepwell: exactly-once work on Amazon SQS',
  terminationProtection: profile === 'production',
  worker: {
    workerName: 'stepwell',
    profile,
    messages,
    messagesEntry: path('../lambdas/messages/index.ts'),
    sourcesEntry: path('../lambdas/sources/index.ts'),
    providers,
    providersEntry: path('../lambdas/providers/index.ts'),
    // The examples' endpoints are nobody's: give your own by `-c paymentsUrl=…` and `-c noticesUrl=…`.
    providerSettings: {
      Payments: { environment: { PAYMENTS_URL: setting('paymentsUrl', 'https://payments.example') } },
      Notices: { environment: { NOTICES_URL: setting('noticesUrl', 'https://notices.example') } },
    },
  },
});
