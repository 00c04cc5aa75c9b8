import type { Envelope } from './envelope.ts';
import { FAILURE_CODE_PATTERN } from './errors.ts';
import type { AttemptPolicy } from './execution.ts';
import { sha256 } from './identity.ts';

const SEALED_KEY = /^sha256-([0-9a-f]{64})$/;
const SHORT_DIGITS = 32;

/**
 * The idempotency key of a type with `data: 'reference'` as the worker knows it: in the inbox, in histories, in
 * logs and in execution names.
 */
export const sealedKey = (idempotencyKey: string): string => `sha256-${sha256(idempotencyKey)}`;

/** A free text of an envelope as the worker shows it. */
export const sealedText = (value: string): string => `sha256-${sha256(value).slice(0, SHORT_DIGITS)}`;

/**
 * An envelope whose free texts are digests and whose content is left out: equal values stay equal, so that logs can
 * still tell whether two lines are of one tenant or one cause. The kind of work, versions, times and trace stay.
 */
export function sealIdentity(envelope: Envelope): Envelope {
  const { payload: _, payloadRef: _ref, attemptPolicy: _policy, ...rest } = envelope;
  return {
    ...rest,
    messageId: sealedText(envelope.messageId),
    producer: sealedText(envelope.producer),
    idempotencyKey: sealedKey(envelope.idempotencyKey),
    aggregateId: sealedText(envelope.aggregateId),
    ...(envelope.tenantId === undefined ? {} : { tenantId: sealedText(envelope.tenantId) }),
    ...(envelope.causationId === undefined ? {} : { causationId: sealedText(envelope.causationId) }),
    ...(envelope.correlationId === undefined ? {} : { correlationId: sealedText(envelope.correlationId) }),
  };
}

/** Codes that no failure can have say nothing to the worker, and anything to a reader. */
export const sealPolicy = (policy: AttemptPolicy): AttemptPolicy => ({
  ...policy,
  terminalAfterCodes: policy.terminalAfterCodes.filter((code) => FAILURE_CODE_PATTERN.test(code)),
});

/** The folder of the payload bucket in which everything lies that is put aside for a key, sealed or not. */
export const asideFolder = (idempotencyKey: string): string =>
  SEALED_KEY.exec(idempotencyKey)?.[1] ?? sha256(idempotencyKey);
