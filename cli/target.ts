import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { localNames } from '../local/names.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';
import { readPortFile } from './port-file.ts';
import { chooseWorker, parseNames, type TargetNames } from './stack-names.ts';

/** The worker that a command works on: the local runtime's, or a deployed stack's. */
export interface Target {
  readonly names: TargetNames;
  readonly clients: {
    /** Undefined for the local runtime, which has no alarms. */
    readonly cloudwatch?: CloudWatchClient;
    readonly dynamodb: DynamoDBClient;
    readonly lambda: LambdaClient;
    readonly s3: S3Client;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
  };
  /** The execution's page in the AWS console; undefined for the local runtime. */
  consoleLink(executionArn: string): string | undefined;
}

export interface TargetOptions {
  /** URL of a local runtime. @default the one that left `.stepwell/local.json` in the working directory */
  readonly endpoint?: string | undefined;
  /** Name of a CloudFormation stack. */
  readonly stack?: string | undefined;
  /** Which of the stack's workers. @default the only one */
  readonly worker?: string | undefined;
  readonly region?: string | undefined;
}

/** Finds the worker. @throws CliError saying what to do when there is none */
export async function openTarget(options: TargetOptions, io: Pick<Io, 'cwd'>): Promise<Target> {
  if (options.stack !== undefined && options.endpoint !== undefined) {
    throw new CliError('--stack and --endpoint exclude each other: give one of them');
  }
  if (options.stack !== undefined) return stackTarget(options.stack, options);
  const left = await readPortFile(io.cwd);
  const url = options.endpoint ?? left?.url;
  if (url === undefined) {
    throw new CliError(
      'No worker to talk to: start the local runtime (npx stepwell local) in this folder, or name one by --endpoint URL or --stack NAME',
    );
  }
  const names = left?.url === url ? left.names : localNames(options.worker ?? 'stepwell', false);
  return endpointTarget(url, names);
}

function endpointTarget(endpoint: string, names: TargetNames): Target {
  const settings = {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 2,
  };
  return {
    names,
    clients: {
      dynamodb: new DynamoDBClient(settings),
      lambda: new LambdaClient(settings),
      sfn: new SFNClient(settings),
      s3: new S3Client({ ...settings, forcePathStyle: true }),
      sqs: new SQSClient({ ...settings, useQueueUrlAsEndpoint: false }),
    },
    consoleLink: () => undefined,
  };
}

async function stackTarget(stack: string, options: TargetOptions): Promise<Target> {
  const settings = options.region === undefined ? {} : { region: options.region };
  const names = chooseWorker(stack, await workersOf(stack, settings), options.worker);
  return {
    names,
    clients: {
      cloudwatch: new CloudWatchClient(settings),
      dynamodb: new DynamoDBClient(settings),
      lambda: new LambdaClient(settings),
      sfn: new SFNClient(settings),
      s3: new S3Client(settings),
      sqs: new SQSClient(settings),
    },
    consoleLink(arn) {
      const region = arn.split(':')[3] ?? '';
      return `https://${region}.console.aws.amazon.com/states/home?region=${region}#/v2/executions/details/${encodeURIComponent(arn)}`;
    },
  };
}

async function workersOf(stack: string, settings: { region?: string }): Promise<readonly TargetNames[]> {
  const client = new CloudFormationClient(settings);
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    return Stacks.flatMap(({ Outputs = [] }) => Outputs).flatMap(({ OutputValue }) =>
      parseNames(OutputValue),
    );
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) {
      throw new CliError(`There is no stack ${stack} in this account and Region`, EXIT.NOT_FOUND, {
        cause: error,
      });
    }
    if (error instanceof Error && /Region is missing/i.test(error.message)) {
      throw new CliError('No Region: give --region, or set AWS_REGION', EXIT.USAGE, { cause: error });
    }
    throw error;
  } finally {
    client.destroy();
  }
}
