import { type BatchGetItemCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createRowReader } from '../../../lambdas/aws/rows.ts';

interface Sent {
  readonly keys: number;
}

/** A client whose BatchGetItem answers at most `take` keys a call and leaves the others unprocessed. */
function clientAnswering(take: number) {
  const sent: Sent[] = [];
  const client = new DynamoDBClient({ region: 'us-east-1' });
  client.middlewareStack.add(
    () => async (args) => {
      const input: BatchGetItemCommandInput = Object(args.input);
      const keys = input.RequestItems?.t?.Keys ?? [];
      sent.push({ keys: keys.length });
      const output = {
        $metadata: {},
        Responses: { t: keys.slice(0, take).map((key) => ({ ...key, found: { BOOL: true } })) },
        UnprocessedKeys: keys.length > take ? { t: { Keys: keys.slice(take) } } : {},
      };
      return { response: {}, output };
    },
    { step: 'initialize' },
  );
  return { client, sent };
}

const keys = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ PK: `K#${index}`, SK: 'META' }));

describe('createRowReader', () => {
  it('gives rows in the order of their keys, a hundred keys a call', async () => {
    const { client, sent } = clientAnswering(100);

    const rows = await createRowReader(client, 't').read(keys(250));

    expect(rows.map((row) => row?.PK)).toEqual(keys(250).map(({ PK }) => PK));
    expect(sent.map((call) => call.keys)).toEqual([100, 100, 50]);
  });

  it('asks for each key once', async () => {
    const { client, sent } = clientAnswering(100);
    const [key = { PK: '', SK: '' }] = keys(1);

    const rows = await createRowReader(client, 't').read([key, key]);

    expect(rows).toHaveLength(2);
    expect(sent).toEqual([{ keys: 1 }]);
  });

  it('asks again for what was left unprocessed', async () => {
    const { client, sent } = clientAnswering(4);

    const rows = await createRowReader(client, 't').read(keys(10));

    expect(rows.every((row) => row?.found === true)).toBe(true);
    expect(sent.map((call) => call.keys)).toEqual([10, 6, 2]);
  });

  it('is throttled when keys stay unprocessed', async () => {
    const { client, sent } = clientAnswering(0);

    await expect(createRowReader(client, 't').read(keys(3))).rejects.toMatchObject({ name: 'Throttled' });
    expect(sent).toHaveLength(5);
  });
});
