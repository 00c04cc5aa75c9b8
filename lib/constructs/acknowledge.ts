import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Says why rules of cdk-nag's AwsSolutions pack do not hold of a construct and what is below it.
 * @param reasons by rule without the pack's name, e.g. `SQS3`, or `IAM5[Resource::*]` for one finding
 */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
}

/** Says why a role may use every resource whose ARN matches one with a wildcard: this one and no other. */
export function acknowledgeWildcard(role: IConstruct, arn: string, reason: string): void {
  acknowledge(role, { [`IAM5[Resource::${flatten(Stack.of(role).resolve(arn))}]`]: reason });
}

/** An ARN as cdk-nag writes it: references in angle brackets. */
function flatten(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const [name, argument] = Object.entries(value)[0] ?? [];
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt' && Array.isArray(argument)) return `<${argument.join('.')}>`;
  if (name === 'Fn::Join' && Array.isArray(argument) && Array.isArray(argument[1])) {
    return argument[1].map(flatten).join(String(argument[0]));
  }
  return JSON.stringify(value);
}
