import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';

/** A route of the ingress, as its template describes it. */
export interface IngressRoute {
  readonly path: string;
  /** JSON schema, if the body is held against one. */
  readonly model?: JsonObject;
  /** Mapping template by content type. */
  readonly requestTemplates: Readonly<Record<string, string>>;
  readonly responses: readonly {
    readonly status: number;
    /** Matches the status that SQS answered; the one without is the default. */
    readonly pattern?: RegExp;
    readonly template: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

/** An answer of API Gateway itself. */
export interface GatewayAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface IngressTemplate {
  readonly routes: readonly IngressRoute[];
  /** By response type, e.g. `BAD_REQUEST_BODY`. */
  readonly answers: Readonly<Record<string, GatewayAnswer>>;
}

/**
 * Reads the API that a CloudFormation template holds.
 * @throws Error naming what is missing
 */
export function readIngress(template: JsonObject): IngressTemplate {
  const resources = objectIn(template, 'Resources');
  const ofType = (type: string) =>
    Object.values(resources).flatMap((value) => {
      const resource = asObject(value);
      return resource.Type === `AWS::ApiGateway::${type}` ? [objectIn(resource, 'Properties')] : [];
    });
  const pathOf = (reference: JsonValue | undefined): string => {
    const id = asObject(reference).Ref;
    if (typeof id !== 'string') return '';
    const { PathPart, ParentId } = objectIn(objectIn(resources, id), 'Properties');
    return `${pathOf(ParentId)}/${PathPart}`;
  };
  const modelOf = (method: JsonObject): JsonObject | undefined => {
    const id = asObject(asObject(method.RequestModels).$default).Ref;
    return typeof id === 'string'
      ? objectIn(objectIn(objectIn(resources, id), 'Properties'), 'Schema')
      : undefined;
  };
  const answers = ofType('GatewayResponse').map((response) => [
    String(response.ResponseType),
    {
      status: Number(response.StatusCode),
      body: String(asObject(response.ResponseTemplates)['application/json'] ?? ''),
      headers: headersOf(asObject(response.ResponseParameters), 'gatewayresponse.header.'),
    },
  ]);
  return {
    routes: ofType('Method').map((method) => {
      const integration = objectIn(method, 'Integration');
      const model = modelOf(method);
      return {
        path: pathOf(method.ResourceId),
        ...(model === undefined ? {} : { model }),
        requestTemplates: textsOf(objectIn(integration, 'RequestTemplates')),
        responses: listOf(integration.IntegrationResponses).map((response) => ({
          status: Number(response.StatusCode),
          ...(typeof response.SelectionPattern === 'string'
            ? { pattern: new RegExp(`^(?:${response.SelectionPattern})$`) }
            : {}),
          template: String(asObject(response.ResponseTemplates)['application/json'] ?? ''),
          headers: headersOf(asObject(response.ResponseParameters), 'method.response.header.'),
        })),
      };
    }),
    answers: Object.fromEntries(answers),
  };
}

/** Parameters with static values, e.g. `'5'` in quotes. */
function headersOf(parameters: JsonObject, prefix: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name.slice(prefix.length).toLowerCase(),
      String(value).replace(/^'(.*)'$/, '$1'),
    ]),
  );
}

const textsOf = (object: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, String(value)]));

const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.map(asObject) : [];

function asObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  if (!isObject(value)) throw new Error(`the template has no ${name} where one is expected`);
  return value;
}
