import Table from 'cli-table3';
import { toJson } from './json.ts';

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

/** Controls, directions of writing, joiners and line ends of other scripts, halves of characters. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return plain(typeof value === 'string' || typeof value === 'bigint' ? String(value) : toJson(value));
}

/** What came from a message or a provider must not steer the terminal: it is shown as JSON would write it. */
export const plain = (text: string): string =>
  text.replace(STEERING, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
