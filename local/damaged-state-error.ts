/** What was kept in a data directory cannot be read any more. */
export class DamagedStateError extends Error {
  override readonly name = 'DamagedStateError';
}
