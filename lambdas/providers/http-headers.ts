import { createHash } from 'node:crypto';

const PLAIN_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * An effect key as a header can carry it. One of more than 255 characters, or of others than visible ASCII, goes as
 * its SHA-256: an effect key holds a `#`, so that none is like another's hash.
 */
export const headerKey = (key: string): string =>
  PLAIN_KEY.test(key) ? key : `sha256-${createHash('sha256').update(key.toWellFormed()).digest('hex')}`;

/** Text as a header can carry it: what is not printable ASCII is percent-encoded. */
export const headerText = (text: string): string =>
  text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent);
