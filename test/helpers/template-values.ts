/** Where the resources of a template are taken to lie. */
export const REGION = 'eu-west-1';
const ACCOUNT = '111122223333';
export const STACK_NAME = 'Deployed';

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::StackName': STACK_NAME,
  'AWS::StackId': `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${STACK_NAME}/0a1b2c3d`,
  'AWS::URLSuffix': 'amazonaws.com',
};

const arn = (service: string, resource: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;
const ARNS: Readonly<Record<string, (id: string) => string>> = {
  'AWS::SQS::Queue': (id) => arn('sqs', id),
  'AWS::DynamoDB::Table': (id) => arn('dynamodb', `table/${id}`),
  'AWS::Lambda::Function': (id) => arn('lambda', `function:${id}`),
  'AWS::StepFunctions::StateMachine': (id) => arn('states', `stateMachine:${id}`),
  'AWS::Logs::LogGroup': (id) => arn('logs', `log-group:${id}:*`),
  'AWS::SNS::Topic': (id) => arn('sns', id),
  'AWS::IAM::Role': (id) => `arn:aws:iam::${ACCOUNT}:role/${id}`,
};

/**
 * Values of a template as CloudFormation would give them, every resource being called by its logical id.
 * @param edge where queues answer: a queue's reference is its URL
 */
export function createResolver(typeOf: (logicalId: string) => string | undefined, edge: string) {
  const attribute = (id: string, name: string): string => {
    const own = ARNS[typeOf(id) ?? '']?.(id) ?? `arn:${id}`;
    if (name === 'StreamArn') return `${own}/stream/1`;
    return name === 'Arn' ? own : id;
  };
  const reference = (id: string): string => {
    const type = typeOf(id);
    if (type === 'AWS::SQS::Queue') return `${edge}/${ACCOUNT}/${id}`;
    if (type === 'AWS::StepFunctions::StateMachine' || type === 'AWS::SNS::Topic')
      return attribute(id, 'Arn');
    return PSEUDO[id] ?? id;
  };

  return function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = []] = Object.entries(value);
    const given: unknown = name?.startsWith('Fn::') ? resolve(argument) : argument;
    const list: readonly unknown[] = Array.isArray(given) ? given : [];
    const [first, second] = list;
    if (name === 'Ref') return reference(String(given));
    if (name === 'Fn::GetAtt') return attribute(String(first), String(second));
    if (name === 'Fn::Join' && Array.isArray(second)) return second.join(String(first));
    if (name === 'Fn::Select' && Array.isArray(second)) return second[Number(first)];
    if (name === 'Fn::Split') return String(second).split(String(first));
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, resolve(entry)]));
  };
}
