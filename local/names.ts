import { LOCAL_ACCOUNT, LOCAL_REGION } from './edge/client-config.ts';

/** Names and ARNs of a worker: what the deployed stack gives as its output, and the command line reads. */
export interface WorkerNames {
  readonly workerName: string;
  readonly stateMachineArn: string;
  readonly tableName: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly dlqUrl: string;
  readonly dlqArn: string;
  readonly quarantineQueueUrl: string;
  readonly payloadBucket: string;
}

const ACCOUNT_URL = `http://sqs.${LOCAL_REGION}.localhost/${LOCAL_ACCOUNT}`;

/** The names that a worker has in the local runtime. */
export function localNames(workerName: string, fifo: boolean): WorkerNames {
  const suffix = fifo ? '.fifo' : '';
  const queue = (name: string) => ({
    url: `${ACCOUNT_URL}/${name}`,
    arn: `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${name}`,
  });
  const main = queue(`${workerName}${suffix}`);
  const dlq = queue(`${workerName}-dlq${suffix}`);
  return {
    workerName,
    stateMachineArn: `arn:aws:states:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stateMachine:${workerName}`,
    tableName: workerName,
    queueUrl: main.url,
    queueArn: main.arn,
    dlqUrl: dlq.url,
    dlqArn: dlq.arn,
    quarantineQueueUrl: queue(`${workerName}-quarantine`).url,
    payloadBucket: `${workerName}-payloads`,
  };
}

/** The name of a queue, from its URL. */
export const queueNameOf = (queueUrl: string): string => queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
