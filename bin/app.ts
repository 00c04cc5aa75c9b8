import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { ConfigurationError } from '../lambdas/core/errors.ts';
import { messages } from '../lambdas/messages/index.ts';
import { WorkerStack } from '../lib/worker-stack.ts';

const app = new App();
const profile: unknown = app.node.tryGetContext('profile') ?? 'production';
if (profile !== 'production' && profile !== 'development') {
  throw new ConfigurationError('The context value profile must be production or development');
}
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

new WorkerStack(app, String(app.node.tryGetContext('stack') ?? 'Stepwell'), {
  description: 'Stepwell: exactly-once work on Amazon SQS',
  terminationProtection: profile === 'production',
  worker: {
    workerName: 'stepwell',
    profile,
    messages,
    messagesEntry: path('../lambdas/messages/index.ts'),
  },
});
