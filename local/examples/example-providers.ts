import { type NoticeServer, startNoticeServer } from '../providers/notice-server.ts';
import { type PaymentServer, startPaymentServer } from '../providers/payment-server.ts';

/** The providers of the example message types, on loopback. */
export interface ExampleProviders {
  readonly payments: PaymentServer;
  readonly notices: NoticeServer;
  /** What the providers' functions find in their environment: where the servers are. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts them, on any free ports. */
export async function startExampleProviders(): Promise<ExampleProviders> {
  const [payments, notices] = await Promise.all([startPaymentServer(), startNoticeServer()]);
  return {
    payments,
    notices,
    environment: { PAYMENTS_URL: payments.url, NOTICES_URL: notices.url },
    async close() {
      await Promise.all([payments.close(), notices.close()]);
    },
  };
}
