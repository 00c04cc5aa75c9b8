import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type ILayerVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { bundleFunction, type FunctionBundleProps } from './function-bundle.ts';

/** Namespace of every metric that the functions emit. */
export const METRICS_NAMESPACE = 'Stepwell';

/** Layers and environment of an observability vendor (OpenTelemetry, Datadog, …). */
export interface FunctionTelemetry {
  /** Layers of every function, at most 5. @default none */
  readonly layers?: readonly ILayerVersion[];
  /** Variables for the layers, at most 2,048 bytes; those that the worker sets win. @default none */
  readonly environment?: Readonly<Record<string, string>>;
  /** AWS_LAMBDA_EXEC_WRAPPER, e.g. `/opt/otel-handler`. @default none */
  readonly execWrapper?: string;
}

/** What all functions of a worker share. */
export interface FunctionDefaults {
  readonly workerName: string;
  readonly release: string;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: IKey | undefined;
  readonly telemetry?: FunctionTelemetry | undefined;
  readonly vpc?: IVpc | undefined;
  readonly vpcSubnets?: SubnetSelection | undefined;
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
}

/** Properties of {@link WorkerFunction}. */
export interface WorkerFunctionProps extends FunctionBundleProps {
  readonly defaults: FunctionDefaults;
  readonly description: string;
  readonly timeout: Duration;
  /** MB. CPU grows with it: 1,769 MB are one core. @default 512 */
  readonly memorySize?: number;
  readonly environment: Readonly<Record<string, string>>;
  /** @default none: shares the account's concurrency */
  readonly reservedConcurrency?: number | undefined;
}

/** A function's work waits for the network; half a gigabyte gives it enough CPU to start in well under a second. */
const DEFAULT_MEMORY_MB = 512;

/**
 * One of the worker's functions: Node.js 24 on arm64, a bundle of its own, a role that may write its own log group
 * and nothing else. Further rights are given by {@link allow}.
 */
export class WorkerFunction extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly timeout: Duration;

  constructor(scope: Construct, id: string, props: WorkerFunctionProps) {
    super(scope, id);
    const { defaults } = props;
    this.timeout = props.timeout;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: defaults.logRetention,
      removalPolicy: defaults.removalPolicy,
      ...(defaults.encryptionKey === undefined ? {} : { encryptionKey: defaults.encryptionKey }),
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]);
    const { vpc, vpcSubnets, securityGroups, telemetry } = defaults;
    if (vpc !== undefined) {
      this.allow(NETWORK_INTERFACE_ACTIONS, ['*']);
      acknowledge(this.role, {
        'IAM5[Resource::*]':
          'Lambda makes the network interfaces, which have no ARN before; EC2 restricts none of it.',
      });
    }
    this.function = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: bundleFunction(props),
      description: props.description,
      memorySize: props.memorySize ?? DEFAULT_MEMORY_MB,
      timeout: props.timeout,
      role: this.role,
      logGroup: this.logGroup,
      environment: {
        ...telemetry?.environment,
        ...(telemetry?.execWrapper === undefined ? {} : { AWS_LAMBDA_EXEC_WRAPPER: telemetry.execWrapper }),
        NODE_OPTIONS: '--enable-source-maps',
        POWERTOOLS_SERVICE_NAME: defaults.workerName,
        POWERTOOLS_METRICS_NAMESPACE: METRICS_NAMESPACE,
        RELEASE: defaults.release,
        WORKER_NAME: defaults.workerName,
        ...props.environment,
      },
      ...(telemetry?.layers === undefined ? {} : { layers: [...telemetry.layers] }),
      ...(defaults.encryptionKey === undefined ? {} : { environmentEncryption: defaults.encryptionKey }),
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(vpc === undefined ? {} : { vpc }),
      ...(vpcSubnets === undefined ? {} : { vpcSubnets }),
      ...(securityGroups === undefined ? {} : { securityGroups: [...securityGroups] }),
    });
  }

  /** Lets the function call `actions` on `resources`, under `conditions` if given. */
  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions?: Readonly<Record<string, unknown>>,
  ): void {
    this.role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions === undefined ? {} : { conditions }),
      }),
    );
  }
}

/** What Lambda needs to attach a function to a VPC. EC2 restricts none of it to a resource that is known before. */
const NETWORK_INTERFACE_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];
