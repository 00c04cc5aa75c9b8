import { LOCAL_REGION } from '../edge/client-config.ts';
import { type BedrockServer, startBedrockServer } from './bedrock-server.ts';
import { type NoticeServer, startNoticeServer } from './notice-server.ts';
import { type PaymentServer, startPaymentServer } from './payment-server.ts';
import type { ProviderServer } from './provider-server.ts';
import { type SesServer, startSesServer } from './ses-server.ts';

/** The counterparts of the worker's providers, on loopback. */
export interface LocalProviders {
  readonly payments: PaymentServer;
  readonly notices: NoticeServer;
  readonly ses: SesServer;
  readonly bedrock: BedrockServer;
  /** What the providers' functions find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts all of them, each on a free port. */
export async function startProviders(): Promise<LocalProviders> {
  const [payments, notices, ses, bedrock] = await Promise.all([
    startPaymentServer(),
    startNoticeServer(),
    startSesServer(),
    startBedrockServer(),
  ]);
  const servers: readonly ProviderServer[] = [payments, notices, ses, bedrock];
  return {
    payments,
    notices,
    ses,
    bedrock,
    env: {
      PAYMENTS_URL: payments.url,
      NOTICES_URL: notices.url,
      AWS_ENDPOINT_URL_SESV2: ses.url,
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
      AWS_REGION: LOCAL_REGION,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
