import type { Decision } from '../core/decision.ts';
import { type Envelope, type PayloadRef, validateEnvelope } from '../core/envelope.ts';
import { FAILURE_CODES, TerminalFailure, WorkerFailure } from '../core/errors.ts';
import type { ExecutionInput } from '../core/execution.ts';
import type { PayloadReader } from '../core/ports.ts';
import { asideFolder } from '../core/seal.ts';
import { fetchPayload } from './payload.ts';

/** Puts bytes aside in a folder of the payload bucket, under their own digest. */
export type PutAside = (folder: string, bytes: Uint8Array) => Promise<PayloadRef>;

/** The message as it was sent, or why it can't be had: to be thrown once the inbox has been asked. */
export interface OpenedEnvelope {
  readonly envelope: Envelope;
  readonly failure?: WorkerFailure;
}

/** The message of an execution, fetched where only its seal is in the input. */
export async function openEnvelope(input: ExecutionInput, payloads: PayloadReader): Promise<OpenedEnvelope> {
  if (input.sealed === undefined) return { envelope: input.envelope };
  try {
    const json = { payloadFormat: 'json', maxPayloadBytes: Number.MAX_SAFE_INTEGER } as const;
    const result = validateEnvelope(await fetchPayload(input.envelope, json, payloads));
    if (result.ok) return { envelope: result.envelope };
    throw new TerminalFailure(
      FAILURE_CODES.INVALID_ENVELOPE,
      'what was put aside for this message is no envelope',
    );
  } catch (error) {
    if (error instanceof WorkerFailure) return { envelope: input.envelope, failure: error };
    throw error;
  }
}

/**
 * The decision with everything that the team's code wrote put aside: what is left tells the state machine where to
 * go, and nothing of the content.
 */
export async function sealDecision(decision: Decision, put: PutAside): Promise<Decision> {
  const folder = asideFolder(decision.identity.idempotencyKey);
  switch (decision.decision) {
    case 'Commit': {
      if (decision.aggregate === undefined) return decision;
      const { aggregate: _, resultRef: _ref, ...rest } = decision;
      const aside = await put(folder, Buffer.from(JSON.stringify(decision)));
      return { ...rest, writes: [], checks: [], events: [], aside };
    }
    case 'EffectsRequired': {
      const effects = decision.effects.map(async (effect) => ({
        ...effect,
        request: null,
        requestRef: await put(folder, Buffer.from(JSON.stringify(effect.request))),
      }));
      return { ...decision, effects: await Promise.all(effects) };
    }
    case 'RetryableFailure':
    case 'TerminalFailure':
    case 'UnknownFailure': {
      const { bucket, key } = await put(folder, Buffer.from(decision.failure.message));
      return { ...decision, failure: { ...decision.failure, message: `kept in s3://${bucket}/${key}` } };
    }
    default:
      return decision;
  }
}
