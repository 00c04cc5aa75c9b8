import type { LogFields, Telemetry } from '../../lambdas/core/telemetry.ts';
import { SILENT } from '../../lambdas/core/telemetry.ts';

/** One log line of a function. */
export interface JournalEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** The functions' log lines, kept for whoever wants to know what became of a message. */
export interface Journal extends Telemetry {
  readonly entries: readonly JournalEntry[];
}

/** Entries kept. The local runtime may stand for days. */
const MAX_ENTRIES = 10_000;

/** Collects log lines and tells each one on. */
export function createJournal(onEntry: (entry: JournalEntry) => void = () => {}): Journal {
  const entries: JournalEntry[] = [];
  const add = (level: JournalEntry['level']) => (message: string, fields: LogFields) => {
    const entry = { level, message, fields };
    entries.push(entry);
    if (entries.length > MAX_ENTRIES) entries.shift();
    onEntry(entry);
  };
  return { ...SILENT, entries, info: add('info'), warn: add('warn'), error: add('error') };
}
