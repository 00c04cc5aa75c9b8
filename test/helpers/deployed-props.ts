import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { LayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { expect } from 'vitest';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { quickApp, workerProps } from './worker-template.ts';

export const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111122223333:${name}`;

/** What is there already, for props that take it. */
function outside(stack: Stack) {
  return {
    vpc: Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId: 'vpc-12345678',
      availabilityZones: ['eu-west-1a'],
      privateSubnetIds: ['subnet-12345678'],
    }),
    subnet: Subnet.fromSubnetId(stack, 'Subnet', 'subnet-87654321'),
    group: SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-12345678'),
    documents: Bucket.fromBucketName(stack, 'Documents', 'documents'),
    orders: Table.fromTableArn(stack, 'Orders', arn('dynamodb', 'table/orders')),
    secret: Secret.fromSecretCompleteArn(stack, 'Secret', arn('secretsmanager', 'secret:bank-AbCdEf')),
    layer: LayerVersion.fromLayerVersionArn(stack, 'Layer', arn('lambda', 'layer:otel:1')),
  };
}
export type Outside = ReturnType<typeof outside>;

/** A worker's template, by what a deployment looks at. */
export function deployed(propsOf: (there: Outside) => Partial<WorkflowWorkerProps>) {
  const stack = new Stack(quickApp(), 'Test', { env: { account: '111122223333', region: 'eu-west-1' } });
  new WorkflowWorker(stack, 'Worker', workerProps(propsOf(outside(stack))));
  const template = Template.fromStack(stack);
  const found = (type: string, part: string) =>
    Object.entries(template.findResources(`AWS::${type}`)).flatMap(([id, { Properties }]) =>
      new RegExp(`^Worker${part}[0-9A-F]{8}$`).test(id) ? [Properties] : [],
    );
  const one = (type: string, part: string) => {
    const [properties, ...others] = found(type, part);
    expect([part, others]).toEqual([part, []]);
    expect(properties, part).toBeDefined();
    return properties;
  };
  return {
    lambda: (name: string) => one('Lambda::Function', `${name}Function`),
    variables: (name: string) => one('Lambda::Function', `${name}Function`).Environment.Variables,
    functions: () => found('Lambda::Function', '\\w+Function'),
    queue: (name: string) => one('SQS::Queue', name),
    source: () => one('Lambda::EventSourceMapping', 'Messages'),
    changes: () => one('Lambda::EventSourceMapping', 'Changes'),
    machine: () => one('StepFunctions::StateMachine', 'StateMachine'),
    definition: () => JSON.parse(one('StepFunctions::StateMachine', 'StateMachine').DefinitionString),
    logGroups: () => found('Logs::LogGroup', '\\w*Logs'),
    lifecycle: () => one('S3::Bucket', 'PayloadsBucket').LifecycleConfiguration.Rules[0],
  };
}
export type Deployed = ReturnType<typeof deployed>;
