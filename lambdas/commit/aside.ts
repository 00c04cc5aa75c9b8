import type { CommitDecision } from '../core/decision.ts';
import type { PayloadRef } from '../core/envelope.ts';
import { sha256 } from '../core/identity.ts';
import type { PayloadReader } from '../core/ports.ts';

/** Above what a plan can be: it is bound by a transaction's 4 MB. */
const MAX_ASIDE_BYTES = 16 * 1024 * 1024;

/** Reads a decision that Plan put aside; undefined when it is gone or another. */
export async function readAside(
  payloads: PayloadReader,
  ref: PayloadRef,
): Promise<CommitDecision | undefined> {
  const object = await payloads.fetch(ref, MAX_ASIDE_BYTES);
  if (object.status !== 'found' || sha256(object.bytes) !== ref.sha256) return undefined;
  return JSON.parse(new TextDecoder().decode(object.bytes));
}
