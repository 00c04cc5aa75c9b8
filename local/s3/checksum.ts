import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { badDigest } from './errors.ts';

/** The checksum algorithms of the API, each giving base64 of a body. */
const ALGORITHMS: Readonly<Record<string, (body: Uint8Array) => string>> = {
  crc32: (body) => base64OfWords([crc32(body)]),
  crc32c: (body) => base64OfWords([crc32c(body)]),
  crc64nvme: (body) => base64OfWords(crc64nvme(body)),
  sha1: (body) => createHash('sha1').update(body).digest('base64'),
  sha256: (body) => createHash('sha256').update(body).digest('base64'),
};

/** A stored object's checksum: its header, `x-amz-checksum-<algorithm>`, and its value. */
export interface Checksum {
  readonly header: string;
  readonly value: string;
}

/**
 * The checksum that a request gives, or asks for, of its body.
 *
 * @throws S3Error `BadDigest` when one that is given doesn't match.
 */
export function checkBody(headers: Readonly<Record<string, string>>, body: Uint8Array): Checksum | undefined {
  const md5 = headers['content-md5'];
  if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64'))
    throw badDigest('Content-MD5');
  for (const [name, compute] of Object.entries(ALGORITHMS)) {
    const header = `x-amz-checksum-${name}`;
    const given = headers[header];
    const wanted = headers['x-amz-sdk-checksum-algorithm']?.toLowerCase() === name;
    if (given === undefined && !wanted) continue;
    const value = compute(body);
    if (given !== undefined && given !== value) throw badDigest(name.toUpperCase());
    return { header, value };
  }
  return undefined;
}

function base64OfWords(words: readonly number[]): string {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word >>> 0, 4 * index);
  return bytes.toString('base64');
}

/** Remainders of all byte values for a reflected polynomial of up to 64 bits, in high and low words. */
function remainders(polynomial: bigint): { readonly high: Uint32Array; readonly low: Uint32Array } {
  const high = new Uint32Array(256);
  const low = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
    high[byte] = Number(value >> 32n);
    low[byte] = Number(value & 0xffffffffn);
  }
  return { high, low };
}

const CRC32C = remainders(0x82f63b78n);
const CRC64NVME = remainders(0x9a6c9329ac4bc9b5n);

function crc32c(body: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of body) crc = (CRC32C.low[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return crc ^ 0xffffffff;
}

function crc64nvme(body: Uint8Array): readonly [number, number] {
  let high = 0xffffffff;
  let low = 0xffffffff;
  for (const byte of body) {
    const index = (low ^ byte) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ (CRC64NVME.low[index] ?? 0);
    high = (high >>> 8) ^ (CRC64NVME.high[index] ?? 0);
  }
  return [high ^ 0xffffffff, low ^ 0xffffffff];
}
