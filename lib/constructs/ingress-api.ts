import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  AuthorizationType,
  AwsIntegration,
  EndpointType,
  type GatewayResponseOptions,
  type IntegrationOptions,
  type JsonSchema,
  JsonSchemaType,
  JsonSchemaVersion,
  LogGroupLogDestination,
  type Method,
  type MethodOptions,
  PassthroughBehavior,
  type Resource,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type Fault, throwFaults } from '../faults.ts';
import { acknowledge } from './acknowledge.ts';
import { ANSWERS, messageTemplate, webhookTemplate } from './ingress-templates.ts';

/** A webhook that the ingress takes for a source of the same name. */
export interface IngressWebhook {
  /** Headers that travel with the body, e.g. the one with the signature. At most 8. */
  readonly headers: readonly string[];
}

/** Properties of {@link IngressApi}. */
export interface IngressApiProps {
  /** The worker's queue. */
  readonly queue: IQueue;
  /** Who may send messages: whoever IAM lets, or whoever has an API key. @default 'iam' */
  readonly authorization?: 'iam' | 'apiKey';
  /**
   * Webhooks by name: `POST /webhooks/<name>`. They are open to everybody, since a provider signs its requests in
   * its own way: each needs a source of that name that verifies the signature. @default none
   */
  readonly webhooks?: Readonly<Record<string, IngressWebhook>>;
  /** Requests a second, and how many at once. @default 100, 200 */
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
  /** ARN of a WAF web ACL to put in front. @default none */
  readonly webAclArn?: string;
  /** How long the access log is kept. @default ONE_MONTH */
  readonly logRetention?: RetentionDays;
  /** What becomes of the access log when the stack goes. @default DESTROY */
  readonly removalPolicy?: RemovalPolicy;
}

/** SQS takes ten attributes a message; two are the ingress's own. */
const MAX_HEADERS = 8;
const RETRY_AFTER_SECONDS = 5;
/** A webhook's body is text of any kind; what is unknown is refused, since API Gateway would pass it on unmapped. */
const WEBHOOK_CONTENT_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'];

/**
 * HTTP in front of the queue, without a function between: API Gateway checks the envelope and sends the body to SQS
 * as it is. 202 means that the message is in the queue.
 */
export class IngressApi extends Construct {
  readonly api: RestApi;
  /** What each request was, without body and headers. */
  readonly accessLog: LogGroup;
  /** Sends to the queue, and may do nothing else. */
  readonly role: Role;
  /** `POST /messages`: whom its ARN is granted may send under `authorization: 'iam'`. */
  readonly messages: Method;

  /** @throws ConfigurationError naming every fault of the props, with rule and remedy */
  constructor(scope: Construct, id: string, props: IngressApiProps) {
    super(scope, id);
    throwFaults(this.node.path, findFaults(props));
    const { queue, webhooks = {} } = props;
    const throttle = props.throttle ?? { ratePerSecond: 100, burst: 200 };
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: props.logRetention ?? RetentionDays.ONE_MONTH,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
      description: 'Takes messages and webhooks into the worker’s queue',
      endpointConfiguration: { types: [EndpointType.REGIONAL] },
      cloudWatchRole: false,
      deployOptions: {
        stageName: 'live',
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(ACCESS_LOG),
        throttlingRateLimit: throttle.ratePerSecond,
        throttlingBurstLimit: throttle.burst,
        metricsEnabled: true,
        dataTraceEnabled: false,
      },
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('apigateway.amazonaws.com') });
    this.#allow(['sqs:SendMessage'], queue.queueArn);
    const { encryptionMasterKey } = queue;
    if (encryptionMasterKey !== undefined) {
      this.#allow(['kms:Decrypt', 'kms:GenerateDataKey'], encryptionMasterKey.keyArn);
    }
    for (const [name, response] of Object.entries(GATEWAY_RESPONSES)) {
      this.api.addGatewayResponse(name, response);
    }

    const apiKey = props.authorization === 'apiKey';
    this.messages = this.#addRoute(this.api.root.addResource('messages'), queue, {
      contentTypes: ['application/json'],
      template: messageTemplate(queue.fifo),
      model: JSON_OBJECT,
      method: apiKey
        ? { authorizationType: AuthorizationType.NONE, apiKeyRequired: true }
        : { authorizationType: AuthorizationType.IAM },
    });
    if (apiKey) {
      const plan = this.api.addUsagePlan('Plan', {
        throttle: { rateLimit: throttle.ratePerSecond, burstLimit: throttle.burst },
      });
      plan.addApiStage({ stage: this.api.deploymentStage });
      plan.addApiKey(this.api.addApiKey('Key'));
    }
    acknowledge(this.messages, {
      COG4: 'The callers are services, not users: they have IAM credentials or an API key.',
      ...(apiKey ? { APIG4: 'Chosen by the deployer: the key is checked against the usage plan.' } : {}),
    });
    acknowledge(this.api, {
      APIG2:
        'Messages are held against a model; a webhook’s body is text of any kind, verified by its source.',
    });
    acknowledge(this.api.deploymentStage, {
      APIG6: 'The access log tells of each request; execution logs need a role for the whole account.',
      ...(props.webAclArn === undefined
        ? { APIG3: 'A web ACL is the deployer’s to choose and to pay for: webAclArn.' }
        : {}),
    });
    const names = Object.entries(webhooks);
    const parent = names.length === 0 ? undefined : this.api.root.addResource('webhooks');
    for (const [name, { headers }] of names) {
      if (parent === undefined) break;
      const webhook = this.#addRoute(parent.addResource(name), queue, {
        contentTypes: WEBHOOK_CONTENT_TYPES,
        template: webhookTemplate(name, headers),
        method: { authorizationType: AuthorizationType.NONE },
      });
      const signed = 'The provider signs its requests; the source verifies that before anything is started.';
      acknowledge(webhook, { APIG4: signed, COG4: signed });
    }
    if (props.webAclArn !== undefined) {
      new CfnWebACLAssociation(this, 'WebAcl', {
        resourceArn: this.api.deploymentStage.stageArn,
        webAclArn: props.webAclArn,
      });
    }
  }

  #allow(actions: string[], resource: string): void {
    this.role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
  }

  #addRoute(resource: Resource, queue: IQueue, route: Route): Method {
    const { model } = route;
    const integration = new AwsIntegration({
      service: 'sqs',
      path: `${Aws.ACCOUNT_ID}/${queue.queueName}`,
      integrationHttpMethod: 'POST',
      options: {
        credentialsRole: this.role,
        passthroughBehavior: PassthroughBehavior.NEVER,
        requestParameters: {
          'integration.request.header.Content-Type': "'application/x-www-form-urlencoded'",
        },
        requestTemplates: Object.fromEntries(route.contentTypes.map((type) => [type, route.template])),
        integrationResponses: integrationResponses(
          model === undefined ? ANSWERS.refusedWebhook : ANSWERS.refused,
        ),
      },
    });
    return resource.addMethod('POST', integration, {
      ...route.method,
      // Under $default every content type is held against the model, not only the one that is named.
      ...(model === undefined
        ? {}
        : {
            requestModels: {
              $default: this.api.addModel('Envelope', { schema: model }),
            },
            requestValidator: this.api.addRequestValidator('Validator', { validateRequestBody: true }),
          }),
      methodResponses: [202, 400, 413, 503].map((status) => ({
        statusCode: String(status),
        ...(status === 503 ? { responseParameters: { 'method.response.header.Retry-After': true } } : {}),
      })),
    });
  }
}

interface Route {
  readonly contentTypes: readonly string[];
  readonly template: string;
  readonly model?: JsonSchema;
  readonly method: MethodOptions;
}

/**
 * What the request validator holds a message to. The envelope's own rules are checked by the mapping, since the
 * validator names no path and quotes the values that break a rule.
 */
const JSON_OBJECT: JsonSchema = {
  schema: JsonSchemaVersion.DRAFT4,
  title: 'Envelope',
  type: JsonSchemaType.OBJECT,
};

const inJson = (template: string) => ({ 'application/json': template });
const RETRY_AFTER = `'${RETRY_AFTER_SECONDS}'`;

const integrationResponses = (refused: string): NonNullable<IntegrationOptions['integrationResponses']> => [
  { statusCode: '202', responseTemplates: inJson(ANSWERS.accepted) },
  { statusCode: '400', selectionPattern: '4\\d{2}', responseTemplates: inJson(refused) },
  {
    statusCode: '503',
    selectionPattern: '5\\d{2}',
    responseTemplates: inJson(ANSWERS.unavailable),
    responseParameters: { 'method.response.header.Retry-After': RETRY_AFTER },
  },
];

const unavailable = {
  statusCode: '503',
  responseHeaders: { 'Retry-After': RETRY_AFTER },
  templates: inJson(ANSWERS.unavailable),
};

const GATEWAY_RESPONSES: Readonly<Record<string, GatewayResponseOptions>> = {
  NotAnObject: {
    type: ResponseType.BAD_REQUEST_BODY,
    statusCode: '400',
    templates: inJson(ANSWERS.notAnObject),
  },
  TooLarge: { type: ResponseType.REQUEST_TOO_LARGE, statusCode: '413', templates: inJson(ANSWERS.tooLarge) },
  Unsupported: {
    type: ResponseType.UNSUPPORTED_MEDIA_TYPE,
    statusCode: '415',
    templates: inJson(ANSWERS.unsupported),
  },
  Throttled: {
    type: ResponseType.THROTTLED,
    statusCode: '429',
    responseHeaders: { 'Retry-After': RETRY_AFTER },
    templates: inJson(ANSWERS.throttled),
  },
  IntegrationTimeout: { type: ResponseType.INTEGRATION_TIMEOUT, ...unavailable },
  IntegrationFailure: { type: ResponseType.INTEGRATION_FAILURE, ...unavailable },
};

/** What a request was, and nothing that it carried. */
const ACCESS_LOG = JSON.stringify({
  requestId: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.resourcePath',
  status: '$context.status',
  responseType: '$context.error.responseType',
  integrationStatus: '$context.integration.status',
  latency: '$context.responseLatency',
  requestLength: '$context.requestLength',
});

function findFaults({ webhooks = {}, throttle }: IngressApiProps): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [name, { headers }] of Object.entries(webhooks)) {
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) {
      faults.push({
        prop: `webhooks.${name}`,
        rule: 'must have a name that matches [a-z][a-z0-9-]{0,63}, because it is part of a path',
        remedy: 'Rename it, and its source with it',
      });
    }
    const prop = `webhooks.${name}.headers`;
    if (headers.length === 0 || headers.length > MAX_HEADERS) {
      faults.push({
        prop,
        rule: `must name 1 to ${MAX_HEADERS} headers, names ${headers.length}`,
        remedy: 'Name the one with the signature, and what else its source reads',
      });
    }
    for (const header of headers.filter((entry) => !/^[A-Za-z0-9-]{1,100}$/.test(entry))) {
      faults.push({
        prop,
        rule: `must name headers, ${header} is no name of one`,
        remedy: 'Use letters, digits and hyphens, at most 100',
      });
    }
  }
  if (throttle !== undefined && !(throttle.ratePerSecond > 0 && throttle.burst >= 1)) {
    faults.push({
      prop: 'throttle',
      rule: `must have a ratePerSecond above 0 and a burst of at least 1, has ${throttle.ratePerSecond} and ${throttle.burst}`,
      remedy: 'Correct them, or leave it out',
    });
  }
  return faults;
}
