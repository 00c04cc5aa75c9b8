import Table from 'cli-table3';

/** Rows for people: columns aligned, no colours, so that a pipe and a terminal get the same. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '',
    },
  });
  for (const row of rows) lines.push(row.map(cell));
  return lines
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** What came from a message or a provider must not steer the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return plain(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Text with control characters replaced by a space. */
export const plain = (text: string): string => text.replace(CONTROL, ' ');
