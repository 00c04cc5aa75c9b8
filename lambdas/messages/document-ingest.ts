import * as v from 'valibot';
import { TerminalFailure } from '../core/errors.ts';
import { derivedKey } from '../core/identity.ts';
import { defineMessage } from '../core/message-type.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * A document in S3 is to be taken in. The message names it (`payloadRef`), and the handler is given its bytes, whose
 * SHA-256 has been compared with the message's. Of several versions of a document only the newest counts.
 */
export const documentIngest = defineMessage({
  type: 'DocumentIngestRequested',
  schemas: { 1: v.instance(Uint8Array) },
  ordering: 'latest',
  payloadFormat: 'bytes',
  maxPayloadBytes: 20 * MEBIBYTE,
  failureCodes: ['DOCUMENT_NOT_TEXT'],
  plan({ envelope, payload, now }) {
    const { sha256 = '' } = envelope.payloadRef ?? {};
    return {
      set: {
        size: payload.byteLength,
        sha256,
        indexState: 'INDEXED',
        indexedAt: now,
        wordCount: countWords(payload),
      },
      events: [
        {
          messageType: 'DocumentIndexed',
          idempotencyKey: derivedKey(envelope.idempotencyKey, 'indexed'),
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          payload: { documentId: envelope.aggregateId, sha256 },
        },
      ],
      resultRef: `document/${envelope.aggregateId}/${sha256.slice(0, 12)}`,
    };
  },
});

function countWords(bytes: Uint8Array): number {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TerminalFailure('DOCUMENT_NOT_TEXT', 'only UTF-8 text can be indexed', { cause });
  }
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}
