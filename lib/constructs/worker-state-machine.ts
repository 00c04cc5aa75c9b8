import { Aws, Fn, type RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  LogLevel,
  StateMachine,
  StateMachineType,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { type DefinitionNumbers, renderDefinition } from '../../statemachines/definition.ts';
import { acknowledge } from './acknowledge.ts';

/** Properties of {@link WorkerStateMachine}. */
export interface WorkerStateMachineProps {
  readonly numbers: Partial<DefinitionNumbers>;
  readonly providers: readonly string[];
  /** Values of the definition's placeholders. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** ARNs of the functions that the definition invokes. */
  readonly functionArns: readonly string[];
  readonly tableArn: string;
  readonly quarantineQueueArn: string;
  /** Logs every event with its data instead of errors without data. Personal data then lies in the log. */
  readonly logExecutionData: boolean;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: IKey | undefined;
}

/**
 * The Standard state machine, from the definition file with its numbers set and its placeholders left to
 * CloudFormation. Its role may invoke the worker's functions, write the failure rows and announce a quarantine.
 */
export class WorkerStateMachine extends Construct {
  readonly stateMachine: StateMachine;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: WorkerStateMachineProps) {
    super(scope, id);
    const { encryptionKey } = props;
    this.logGroup = new LogGroup(this, 'Logs', {
      logGroupName: this.#logGroupName(),
      retention: props.logRetention,
      removalPolicy: props.removalPolicy,
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    this.#allow(['lambda:InvokeFunction'], props.functionArns);
    this.#allow(['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:ConditionCheckItem'], [props.tableArn]);
    this.#allow(['sqs:SendMessage'], [props.quarantineQueueArn]);
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(
        JSON.stringify(renderDefinition({ numbers: props.numbers, providers: props.providers })),
      ),
      definitionSubstitutions: { ...props.substitutions },
      role: this.role,
      logs: {
        destination: this.logGroup,
        level: props.logExecutionData ? LogLevel.ALL : LogLevel.ERROR,
        includeExecutionData: props.logExecutionData,
      },
      removalPolicy: props.removalPolicy,
      ...(encryptionKey === undefined
        ? {}
        : { encryptionConfiguration: new CustomerManagedEncryptionConfiguration(encryptionKey) }),
    });
    acknowledge(this.role, {
      'IAM5[Resource::*]': 'Logs restricts the delivery of a state machine’s log to no resource.',
    });
    acknowledge(this.stateMachine, {
      SF2: 'Traces are carried by the envelope’s traceparent to every function and provider.',
      ...(props.logExecutionData
        ? {}
        : { SF1: 'Events carry message data, which may be personal; the history keeps them for 90 days.' }),
    });
  }

  /**
   * The prefix keeps the account's log resource policy small: Logs admits everything below it. The stack's own id
   * makes the name unique, so that a log group which outlived its stack does not block the next one.
   */
  #logGroupName(): string {
    const stackGuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
    return Fn.join('', [
      '/aws/vendedlogs/states/',
      Aws.STACK_NAME,
      '-',
      this.node.addr.slice(-8),
      '-',
      stackGuid,
    ]);
  }

  #allow(actions: readonly string[], resources: readonly string[]): void {
    this.role.addToPolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
  }
}
