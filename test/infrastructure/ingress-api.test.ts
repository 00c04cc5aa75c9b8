import { App, Stack, Validations } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { IngressApi } from '../../lib/constructs/ingress-api.ts';
import { ingressTemplate } from '../helpers/ingress-template.ts';

const METHOD = 'AWS::ApiGateway::Method';
const payments = { webhooks: { payments: { headers: ['Payment-Signature'] } } };

const templatesOf = (template: Template): string[] =>
  Object.values(template.findResources(METHOD)).flatMap(({ Properties }) =>
    Object.values<string>(Properties.Integration.RequestTemplates),
  );

describe('IngressApi', () => {
  it('is open to nobody without IAM or an API key', () => {
    ingressTemplate().hasResourceProperties(METHOD, { AuthorizationType: 'AWS_IAM' });
    const keyed = ingressTemplate({ authorization: 'apiKey' });

    keyed.hasResourceProperties(METHOD, { AuthorizationType: 'NONE', ApiKeyRequired: true });
    keyed.hasResource('AWS::ApiGateway::UsagePlanKey', {});
  });

  it('holds every content type against the model, maps one, and passes none through', () => {
    const template = ingressTemplate();

    template.hasResourceProperties(METHOD, {
      HttpMethod: 'POST',
      RequestModels: { $default: Match.anyValue() },
      RequestValidatorId: Match.anyValue(),
      Integration: {
        PassthroughBehavior: 'NEVER',
        RequestTemplates: { 'application/json': Match.anyValue() },
      },
    });
    template.hasResourceProperties('AWS::ApiGateway::RequestValidator', { ValidateRequestBody: true });
    template.hasResourceProperties('AWS::ApiGateway::Model', { Schema: { type: 'object' } });
    const [mapping = ''] = templatesOf(template);
    expect(mapping).toContain("$input.path('$')");
    expect(mapping).toContain('; $.idempotencyKey: is required');
  });

  it('groups by aggregate in a FIFO queue and by tenant in a standard one, without deduplication ids', () => {
    const [standard = ''] = templatesOf(ingressTemplate());
    const [fifo = ''] = templatesOf(ingressTemplate({}, { fifo: true }));

    expect(standard).toContain('$.tenantId');
    expect(fifo).toContain("&MessageGroupId=$util.urlEncode($input.path('$.aggregateId'))");
    expect(`${standard}${fifo}`).not.toContain('MessageDeduplicationId');
  });

  it('answers 202, 400, 413 and 503 with Retry-After', () => {
    ingressTemplate().hasResourceProperties(METHOD, {
      Integration: {
        IntegrationResponses: Match.arrayWith([
          Match.objectLike({ StatusCode: '202' }),
          Match.objectLike({ StatusCode: '400', SelectionPattern: '4\\d{2}' }),
          Match.objectLike({
            StatusCode: '503',
            SelectionPattern: '5\\d{2}',
            ResponseParameters: { 'method.response.header.Retry-After': "'5'" },
          }),
        ]),
      },
      MethodResponses: Match.arrayWith([Match.objectLike({ StatusCode: '413' })]),
    });
  });

  it('lets API Gateway send to the queue, and nothing else', () => {
    const template = ingressTemplate(payments);

    const [policy] = Object.values(template.findResources('AWS::IAM::Policy'));
    expect(policy?.Properties.PolicyDocument.Statement).toEqual([
      {
        Action: 'sqs:SendMessage',
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [expect.stringContaining('Queue'), 'Arn'] },
      },
    ]);
  });

  it('logs requests without bodies, and traces no data', () => {
    const template = ingressTemplate(payments);

    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ DataTraceEnabled: false, ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 }),
      ],
    });
    const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
    expect(JSON.stringify(stage?.Properties.AccessLogSetting)).not.toMatch(
      /body|messageString|validationError|header/i,
    );
  });

  it('never gives back the value that broke a rule', () => {
    const responses = ingressTemplate().findResources('AWS::ApiGateway::GatewayResponse');

    expect(Object.keys(responses).length).toBeGreaterThan(4);
    expect(JSON.stringify(responses)).not.toMatch(/validationErrorString|\$context/);
  });

  it('takes webhooks by name with the headers they need, under a name that no sender chooses', () => {
    const template = ingressTemplate(payments);

    template.hasResourceProperties('AWS::ApiGateway::Resource', { PathPart: 'payments' });
    const webhook = templatesOf(template).find((text) => text.includes('payments')) ?? '';
    expect(webhook).toContain("$input.params('Payment-Signature')");
    expect(webhook).toContain('$context.requestTimeEpoch');
    expect(webhook).not.toContain("params('source')");
  });

  it('has no webhooks unless they are asked for', () => {
    const paths = Object.values(ingressTemplate().findResources('AWS::ApiGateway::Resource'));

    expect(paths.map(({ Properties }) => Properties.PathPart)).toEqual(['messages']);
  });

  it('puts a web ACL in front', () => {
    ingressTemplate({
      webAclArn: 'arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b',
    }).hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
      WebACLArn: 'arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/a/b',
    });
  });

  it.each([{}, { authorization: 'apiKey' as const }])(
    'holds to the AwsSolutions rules, given %j',
    (props) => {
      const app = new App();
      const stack = new Stack(app, 'Ingress');
      Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
      const dead = new Queue(stack, 'Dead', { enforceSSL: true });
      const deadLetterQueue = { queue: dead, maxReceiveCount: 100 };
      const queue = new Queue(stack, 'Queue', { enforceSSL: true, deadLetterQueue });
      new IngressApi(stack, 'Api', { queue, ...payments, ...props });

      expect(() => app.synth()).not.toThrow();
    },
  );

  it('names every fault at once', () => {
    expect(() =>
      ingressTemplate({
        webhooks: { 'Not A Path': { headers: [] }, ok: { headers: ["x') #end"] } },
        throttle: { ratePerSecond: 0, burst: 1 },
      }),
    ).toThrow(
      /4 faults:\n.*webhooks\.Not A Path: must have a name.*\n.*must name 1 to 8 headers, names 0.*\n.*webhooks\.ok\.headers: .* is no name of one.*\n.*throttle: /,
    );
  });
});
