import type { WireEffect } from '../core/decision.ts';
import { toEffectRow } from '../core/effect-row.ts';
import type { EffectRow } from '../core/effects.ts';
import { FAILURE_CODES, RetryableFailure, TerminalFailure } from '../core/errors.ts';
import { sha256 } from '../core/identity.ts';
import type { PayloadReader, RowReader } from '../core/ports.ts';
import { effectRowKey } from '../core/table.ts';

/** A provider's answer that lies in the payload bucket; providers bound what they read to less. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

/**
 * The log rows of effects, in their order, with responses that lie in the payload bucket.
 *
 * @throws RetryableFailure or TerminalFailure `PAYLOAD_*` when a response cannot be read
 */
export async function readEffects(
  effects: readonly WireEffect[],
  { rows, payloads }: { readonly rows: RowReader; readonly payloads: PayloadReader },
): Promise<readonly (EffectRow | undefined)[]> {
  const found = await rows.read(effects.map(({ key }) => effectRowKey(key)));
  return Promise.all(found.map((row) => withResponse(toEffectRow(row), payloads)));
}

async function withResponse(
  row: EffectRow | undefined,
  payloads: PayloadReader,
): Promise<EffectRow | undefined> {
  if (row?.responseRef === undefined || row.status !== 'COMPLETED') return row;
  const object = await payloads.fetch(row.responseRef, MAX_RESPONSE_BYTES);
  switch (object.status) {
    case 'notFound':
      throw new RetryableFailure(FAILURE_CODES.PAYLOAD_NOT_FOUND, {
        message: "an effect's response is no longer in the payload bucket",
      });
    case 'denied':
      throw new TerminalFailure(
        FAILURE_CODES.PAYLOAD_ACCESS_DENIED,
        "Plan may not read an effect's response: check the payload bucket's policy and key",
      );
    case 'tooLarge':
      throw new TerminalFailure(FAILURE_CODES.PAYLOAD_TOO_LARGE, "an effect's response is too large to read");
    case 'found':
      if (sha256(object.bytes) !== row.responseRef.sha256) {
        throw new TerminalFailure(
          FAILURE_CODES.PAYLOAD_CHECKSUM_MISMATCH,
          "an effect's response in the payload bucket is not the one that was recorded",
        );
      }
      return { ...row, response: JSON.parse(new TextDecoder().decode(object.bytes)) };
  }
}
