import { HEADER_PREFIX, RECEIVED_AT_ATTRIBUTE, type Source } from '../core/sources.ts';

/** A webhook's request as the ingress took it. */
export interface WebhookRequest {
  /** The raw body, as it was signed. */
  readonly body: string;
  /** The headers that the ingress was told to carry, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the ingress took it, in epoch milliseconds: the queue may have held it since. */
  readonly receivedAt: number;
}

/** Refuses a request by throwing, without a promise. It returns nothing: a request for which it returns a value is refused. */
export type WebhookVerifier = (request: WebhookRequest) => void;

/** Which webhook a source takes, and what it makes of its requests. */
export interface WebhookSourceOptions {
  /** The last part of the path `/webhooks/{source}`. */
  readonly name: string;
  /** Called first: nothing of a request that it refuses is looked at. */
  readonly verify: WebhookVerifier;
  /** The envelope of a request; `undefined` refuses this kind of event. */
  readonly toEnvelope: (request: WebhookRequest) => unknown;
}

/** Requests of one webhook: verified, then turned into an envelope. */
export function webhookSource(options: WebhookSourceOptions): Source {
  return {
    name: options.name,
    webhook: options.name,
    toEnvelope({ body, attributes, sentAt }) {
      const headers = Object.fromEntries(
        Object.entries(attributes).flatMap(([name, value]) =>
          name.startsWith(HEADER_PREFIX) ? [[name.slice(HEADER_PREFIX.length).toLowerCase(), value]] : [],
        ),
      );
      const receivedAt = Number(attributes[RECEIVED_AT_ATTRIBUTE] ?? sentAt);
      const request = { body, headers, receivedAt };
      const verdict: unknown = options.verify(request);
      if (verdict !== undefined) {
        // A rejection that nobody takes would end the function, and with it the batch.
        if (verdict instanceof Promise) verdict.catch(() => {});
        throw new TypeError('verify must refuse by throwing, without a promise, and return nothing');
      }
      const envelope = options.toEnvelope(request);
      if (envelope === undefined) throw new TypeError('this kind of event is not taken');
      return envelope;
    },
  };
}
