import { readFileSync } from 'node:fs';
import type { LocalProviders } from '../providers/start-providers.ts';

/** What a message may come to. `DONE TWICE` is what must not be: an effect that happened more than once. */
export type ExampleResult =
  | 'COMPLETED'
  | 'SUPERSEDED'
  | 'DUPLICATE'
  | 'DEAD LETTER'
  | 'QUARANTINED'
  | 'IN DOUBT'
  | 'DONE TWICE';

/** An effect of an example: what to see at its provider. */
export interface ExampleEffect {
  readonly name: string;
  /** The provider acts on the first call, and its answer is lost. */
  readonly loseAnswer?: (providers: LocalProviders) => void;
  /** How often the effect has happened at the provider, of how many calls. */
  readonly seen: (providers: LocalProviders) => { readonly calls: number; readonly done: number };
}

/** One message of the set that the local runtime sends itself. */
export interface Example {
  readonly title: string;
  /** File in `messages/`, so that a reader can send it, change it and send it again. */
  readonly file: string;
  readonly queue: 'main' | 'exercise';
  readonly expects: ExampleResult;
  readonly effect?: ExampleEffect;
  /** File in `messages/` that is put where the message's `payloadRef` says. */
  readonly object?: string;
}

const LOST_ANSWER = { when: 'after', how: 'cut' } as const;

/** Two messages ask the same. */
const ANSWER: ExampleEffect = {
  name: 'answer',
  seen: ({ bedrock }) => ({ calls: bedrock.requests.length, done: bedrock.ledger.length }),
};

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
  {
    title: 'payment: answer lost',
    file: 'payment.json',
    queue: 'main',
    expects: 'COMPLETED',
    effect: {
      name: 'capture',
      loseAnswer: ({ payments }) => payments.fail(LOST_ANSWER),
      seen: ({ payments }) => ({ calls: payments.requests.length, done: payments.ledger.length }),
    },
  },
  {
    title: 'notice: answer lost',
    file: 'notice.json',
    queue: 'main',
    expects: 'IN DOUBT',
    effect: {
      name: 'deliver',
      loseAnswer: ({ notices }) => notices.fail(LOST_ANSWER),
      seen: ({ notices }) => ({ calls: notices.requests.length, done: notices.ledger.length }),
    },
  },
  {
    title: 'a question to a model',
    file: 'question-1.json',
    queue: 'main',
    expects: 'COMPLETED',
    effect: ANSWER,
  },
  {
    title: 'the same question',
    file: 'question-2.json',
    queue: 'main',
    expects: 'COMPLETED',
    effect: ANSWER,
  },
  {
    title: 'a document by reference',
    file: 'document.json',
    queue: 'main',
    expects: 'COMPLETED',
    object: 'document.txt',
  },
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

const read = (file: string) => readFileSync(new URL(`./messages/${file}`, import.meta.url));

/** The text of an example, as it is sent. */
export const exampleBody = (example: Example): string => read(example.file).toString('utf8').trim();

/** The bytes of a file beside the messages. */
export const exampleObject = (file: string): Uint8Array => read(file);
