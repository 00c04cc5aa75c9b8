import { createHmac, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '../core/errors.ts';
import type { WebhookVerifier } from './webhook.ts';

/** The request is not the provider's, or not a fresh one. */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
}

/** How a webhook is signed. */
export interface HmacSignatureOptions {
  /** Header that carries `t=<epoch seconds>,v1=<hex digest>`, several `v1` allowed. */
  readonly header: string;
  /** Shared secrets: two while one is replaced by the other. */
  readonly secrets: readonly string[];
  /** How far the signed time may lie from when the ingress took the request. @default 300 */
  readonly toleranceSeconds?: number;
}

/**
 * HMAC-SHA256 over `<t>.<body>`, compared in constant time. The signed time is compared with the arrival at the
 * ingress, so that a backlog of the queue makes no request stale and a recorded request cannot be sent again later.
 *
 * @throws ConfigurationError when there is no secret
 */
export function hmacSignature(options: HmacSignatureOptions): WebhookVerifier {
  const { secrets, toleranceSeconds = 300 } = options;
  const header = options.header.toLowerCase();
  if (secrets.length === 0 || secrets.includes('')) {
    throw new ConfigurationError(`The webhook signed in ${header} needs at least one secret, and none empty`);
  }
  return ({ body, headers, receivedAt }) => {
    const { time, digests } = readHeader(headers[header]);
    // The negation also refuses times that are no numbers.
    if (!(Math.abs(receivedAt / 1000 - Number(time)) <= toleranceSeconds)) {
      throw new InvalidSignature('the signed time is not the time of the request');
    }
    const genuine = secrets.some((secret) => {
      const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
      return digests.some((digest) => digest.length === expected.length && timingSafeEqual(digest, expected));
    });
    if (!genuine) throw new InvalidSignature('no signature is by one of the secrets');
  };
}

function readHeader(value = ''): { time: string; digests: readonly Buffer[] } {
  const parts = value.split(',').map((part) => part.trim().split('=', 2));
  const valuesOf = (name: string) => parts.flatMap(([key, text = '']) => (key === name ? [text] : []));
  return {
    time: valuesOf('t')[0] || 'none',
    digests: valuesOf('v1').map((digest) => Buffer.from(digest, 'hex')),
  };
}
