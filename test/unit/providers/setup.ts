import { onTestFinished } from 'vitest';
import { ConfigurationError } from '../../../lambdas/core/errors.ts';
import type {
  AnyOperation,
  CallFailure,
  EffectCall,
  ProviderContext,
  ProviderDefinition,
} from '../../../lambdas/core/provider.ts';
import {
  type ProviderAnswer,
  type ProviderServer,
  startProviderServer,
} from '../../../local/providers/provider-server.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

/** Closes the server when the test is over. */
export function closing<T extends ProviderServer>(server: T): T {
  onTestFinished(() => server.close());
  return server;
}

/** A provider that gives one answer to everything. */
export const answering = async (answer: ProviderAnswer): Promise<ProviderServer> =>
  closing(await startProviderServer({ act: () => answer, refuse: (code) => ({ status: code }) }));

/** Opens a provider in an environment, as its function's init does. */
export function open(
  provider: ProviderDefinition,
  env: Readonly<Record<string, string>>,
  context: Partial<ProviderContext> = {},
): Readonly<Record<string, AnyOperation>> {
  return provider.open({
    env,
    clock: createVirtualClock(),
    secret: async () => {
      throw new ConfigurationError('no secret');
    },
    ...context,
  });
}

export function operationOf(
  provider: ProviderDefinition,
  name: string,
  env: Readonly<Record<string, string>>,
  context: Partial<ProviderContext> = {},
): AnyOperation {
  const operation = open(provider, env, context)[name];
  if (operation === undefined) throw new Error(`the provider has no operation ${name}`);
  return operation;
}

export const call = (request: unknown, more: Partial<EffectCall<unknown>> = {}): EffectCall<unknown> => ({
  request,
  key: 'order-1#effect',
  signal: new AbortController().signal,
  ...more,
});

/** Calls, expects it to fail, and returns what the provider's own classifier makes of it. */
export async function failureOf(operation: AnyOperation, effect: EffectCall<unknown>): Promise<CallFailure> {
  try {
    await operation.execute(effect);
  } catch (error) {
    return operation.classify(error);
  }
  throw new Error('the call succeeded');
}

/** The environment that Lambda gives a function, and more. */
export const awsEnv = (more: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  ...more,
});
