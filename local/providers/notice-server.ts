import { type ProviderAnswer, type ProviderServer, startProviderServer } from './provider-server.ts';
import { jsonObject } from './service-json.ts';

/** A notice that was delivered. */
export interface Notice {
  readonly noticeId: string;
  readonly caseId: string;
  readonly recipient: string;
  readonly template: string;
}

export interface NoticeServer extends ProviderServer {
  /** Every notice that was delivered, in order. */
  readonly ledger: readonly Notice[];
}

const problem = (status: number, code: string): ProviderAnswer => ({ status, body: { code } });

/** A provider without idempotency keys and without a way to ask: each `POST /notices` delivers one more notice. */
export async function startNoticeServer(options: { readonly port?: number } = {}): Promise<NoticeServer> {
  const ledger: Notice[] = [];
  const server = await startProviderServer(
    {
      refuse: problem,
      act({ method, path, body }) {
        if (path !== '/notices') return problem(404, 'NOT_FOUND');
        if (method !== 'POST') return problem(405, 'METHOD_NOT_ALLOWED');
        const { caseId, recipient, template } = jsonObject(body) ?? {};
        if (typeof caseId !== 'string' || typeof recipient !== 'string' || typeof template !== 'string') {
          return problem(400, 'INVALID_REQUEST');
        }
        const noticeId = `notice-${ledger.length + 1}`;
        ledger.push({ noticeId, caseId, recipient, template });
        return { status: 201, body: { noticeId } };
      },
    },
    options,
  );
  return { ...server, ledger };
}
