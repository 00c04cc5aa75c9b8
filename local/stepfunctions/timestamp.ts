const OFFSET_DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

/** Epoch milliseconds of an ISO 8601 date and time with `T` and an offset; undefined for anything else. */
export function parseTimestamp(text: string): number | undefined {
  const date = OFFSET_DATE_TIME.exec(text)?.[1];
  if (date === undefined) return undefined;
  const midnight = new Date(`${date}T00:00:00Z`);
  // JavaScript takes the 30th of February for the 1st of March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
