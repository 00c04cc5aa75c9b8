import type { WireEffect } from '../core/decision.ts';
import { sha256 } from '../core/identity.ts';
import type { GetObject } from './get-object.ts';

/** Above what a plan can be. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

/**
 * Fetches an effect's request where it is kept out of histories.
 * @throws Error when it is no longer there as it was
 */
export function createRequestReader(get: GetObject): (effect: WireEffect) => Promise<WireEffect> {
  return async (effect) => {
    const { requestRef, ...rest } = effect;
    if (requestRef === undefined) return effect;
    const object = await get(requestRef, MAX_REQUEST_BYTES);
    if (object.status !== 'found' || sha256(object.bytes) !== requestRef.sha256) {
      throw new Error(`the request of effect ${effect.name} that was put aside is gone or has changed`);
    }
    return { ...rest, request: JSON.parse(new TextDecoder().decode(object.bytes)) };
  };
}
