import { type ProviderAnswer, type ProviderServer, startProviderServer } from './provider-server.ts';
import { jsonObject } from './service-json.ts';

/** A capture in the provider's books. */
export interface Capture {
  readonly captureId: string;
  readonly key: string;
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
}

export interface PaymentServer extends ProviderServer {
  /** Every capture that was carried out, in order. */
  readonly ledger: readonly Capture[];
}

const problem = (status: number, code: string): ProviderAnswer => ({ status, body: { code } });

/**
 * A payment provider: `POST /captures` with an `Idempotency-Key`. A key is carried out once; a repetition gets the
 * first answer, another request under the key 422.
 */
export async function startPaymentServer(options: { readonly port?: number } = {}): Promise<PaymentServer> {
  const ledger: Capture[] = [];
  const answered = new Map<string, { readonly request: string; readonly answer: ProviderAnswer }>();

  const capture = (key: string, request: string): ProviderAnswer => {
    const { paymentId, amount, currency } = jsonObject(request) ?? {};
    if (typeof paymentId !== 'string' || typeof amount !== 'number' || typeof currency !== 'string') {
      return problem(400, 'INVALID_REQUEST');
    }
    const captureId = `cap-${ledger.length + 1}`;
    ledger.push({ captureId, key, paymentId, amount, currency });
    return { status: 201, body: { captureId, paymentId, amount, currency } };
  };

  const server = await startProviderServer(
    {
      refuse: problem,
      act({ method, path, headers, body }) {
        if (path !== '/captures') return problem(404, 'NOT_FOUND');
        if (method !== 'POST') return problem(405, 'METHOD_NOT_ALLOWED');
        const key = headers['idempotency-key'];
        if (typeof key !== 'string') return problem(400, 'IDEMPOTENCY_KEY_REQUIRED');
        const earlier = answered.get(key);
        if (earlier !== undefined) {
          return earlier.request === body ? earlier.answer : problem(422, 'IDEMPOTENCY_KEY_REUSED');
        }
        const answer = capture(key, body);
        answered.set(key, { request: body, answer });
        return answer;
      },
    },
    options,
  );
  return { ...server, ledger };
}
