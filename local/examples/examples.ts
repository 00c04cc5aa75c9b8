import { readFileSync } from 'node:fs';

/** What a message may come to. */
export type ExampleResult = 'COMPLETED' | 'SUPERSEDED' | 'DUPLICATE' | 'DEAD LETTER' | 'QUARANTINED';

/** One message of the set that the local runtime sends itself. */
export interface Example {
  readonly title: string;
  /** File in `messages/`, so that a reader can send it, change it and send it again. */
  readonly file: string;
  readonly queue: 'main' | 'exercise';
  readonly expects: ExampleResult;
}

/** The examples in the order in which they are sent. The first one is done before the others follow. */
export const EXAMPLES: readonly Example[] = [
  { title: 'a good message', file: 'good.json', queue: 'main', expects: 'COMPLETED' },
  { title: 'the same again', file: 'good.json', queue: 'main', expects: 'DUPLICATE' },
  {
    title: 'same key, other content',
    file: 'same-key-other-content.json',
    queue: 'main',
    expects: 'DEAD LETTER',
  },
  { title: 'an out-of-date version', file: 'out-of-date.json', queue: 'main', expects: 'SUPERSEDED' },
  { title: 'invalid JSON', file: 'invalid-json.txt', queue: 'main', expects: 'DEAD LETTER' },
  { title: 'exercise: fails as it is', file: 'exercise-raw.json', queue: 'exercise', expects: 'DEAD LETTER' },
  {
    title: 'exercise: its neighbour',
    file: 'exercise-neighbour.json',
    queue: 'exercise',
    expects: 'COMPLETED',
  },
  {
    title: 'exercise: handler throws',
    file: 'exercise-throws.json',
    queue: 'exercise',
    expects: 'QUARANTINED',
  },
];

/** The text of an example, as it is sent. */
export const exampleBody = (example: Example): string =>
  readFileSync(new URL(`./messages/${example.file}`, import.meta.url), 'utf8').trim();
