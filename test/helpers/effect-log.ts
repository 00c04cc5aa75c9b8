import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { createEffectLog } from '../../lambdas/aws/effect-log.ts';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import type { WireEffect } from '../../lambdas/core/decision.ts';
import { effectRowKey } from '../../lambdas/core/table.ts';
import { createDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { createActivity } from '../../local/edge/activity.ts';
import { inProcessClientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from '../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { localNames } from '../../local/names.ts';
import { createResources } from '../../local/resources.ts';
import { createS3Store } from '../../local/s3/index.ts';
import { createSqsStore } from '../../local/sqs/index.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';
import { sequentialIds } from './ids.ts';

/** An effect that a plan asks for. */
export const CAPTURE: WireEffect = {
  key: 'order-1#capture',
  name: 'capture',
  provider: 'Bank',
  operation: 'capture',
  request: { amount: 10 },
  requestHash: 'a'.repeat(64),
  onRequestChange: 'fail',
  idempotencyKey: 'order-1',
};

/** An effect log on an embedded table of its own, in virtual time. */
export async function openEffectLog() {
  const clock = createVirtualClock();
  const newId = sequentialIds();
  const names = localNames('effects', false);
  const activity = createActivity();
  const dynamodb = new DynamoDBClient(
    inProcessClientConfig({
      requestHandler: createInProcessRequestHandler(createDynamoDb({ clock, newId }).dispatch, { activity }),
      clock,
      random: () => 0,
      maxAttempts: 1,
    }),
  );
  await createResources({
    names,
    fifo: false,
    maxReceiveCount: 100,
    sqs: createSqsStore({ clock, newId, region: LOCAL_REGION, account: LOCAL_ACCOUNT }),
    s3: createS3Store({ clock, newId }),
    dynamodb,
  });
  const log = createEffectLog(dynamodb, { tableName: names.tableName, ttlSeconds: 1000 });
  /** An effect's row. */
  const row = async (effectKey = CAPTURE.key) => {
    const key = toItem({ ...effectRowKey(effectKey) });
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName: names.tableName, Key: key }));
    return Item === undefined ? undefined : fromItem(Item);
  };
  return { clock, newId, activity, log, row };
}
