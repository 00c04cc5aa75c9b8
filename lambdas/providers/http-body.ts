/** A body that is larger than it may be. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/**
 * Reads a response's body as text, and no more of it than `maxBytes` (counted after decompression).
 *
 * @throws BodyTooLarge when there is more
 * @throws TypeError when it is not UTF-8, and what the connection throws
 */
export async function readBody(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body, which closes the connection.
    if (size > maxBytes) throw new BodyTooLarge(`the body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
