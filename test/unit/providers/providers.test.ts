import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { afterEach, describe, expect, it } from 'vitest';
import { providers } from '../../../lambdas/providers/index.ts';
import { sdkClientConfig } from '../../../lambdas/providers/sdk-client.ts';
import { type LocalProviders, startProviders } from '../../../local/providers/start-providers.ts';
import { call, operationOf } from './setup.ts';

const REQUESTS: Readonly<Record<string, { operation: string; request: unknown }>> = {
  Payments: { operation: 'capture', request: { paymentId: 'P-1', amount: 1, currency: 'EUR' } },
  Notices: { operation: 'deliver', request: { caseId: 'C-1', recipient: 'office', template: 'deadline' } },
  Email: { operation: 'send', request: { from: 'a@b.org', to: ['c@d.org'], subject: 'x', text: 'y' } },
  Model: { operation: 'converse', request: { modelId: 'm', messages: [{ role: 'user', text: 'hello' }] } },
};

let local: LocalProviders | undefined;
afterEach(async () => {
  await local?.close();
  local = undefined;
});

describe('the shipped providers', () => {
  it.each(providers.map((provider) => [provider.name, provider] as const))(
    '%s does its work against its local counterpart',
    async (name, provider) => {
      local = await startProviders();
      const { operation = '', request } = REQUESTS[name] ?? {};

      const answer = await operationOf(provider, operation, local.env).execute(call(request));

      expect(answer.reference).toMatch(/-1$/);
    },
  );

  it('have different names', () => {
    const names = providers.map(({ name }) => name);

    expect(names).toEqual(['Payments', 'Notices', 'Email', 'Model']);
  });
});

describe('the local counterpart of an AWS service', () => {
  it('refuses a request that it does not know, in the form in which the SDK reads errors', async () => {
    local = await startProviders();
    const client = new SESv2Client(sdkClientConfig(local.env, 'AWS_ENDPOINT_URL_SESV2', {}));

    const sending = client.send(new SendEmailCommand({ Content: { Raw: { Data: new Uint8Array(1) } } }));

    await expect(sending).rejects.toMatchObject({ name: 'BadRequestException' });
  });
});
