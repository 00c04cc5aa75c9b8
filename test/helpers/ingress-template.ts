import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { IngressApi, type IngressApiProps } from '../../lib/constructs/ingress-api.ts';

/** The template of a stack with a queue and an ingress in front of it. */
export function ingressTemplate(
  props: Omit<IngressApiProps, 'queue'> = {},
  options: { readonly fifo?: boolean } = {},
): Template {
  const stack = new Stack(new App(), 'Ingress');
  const queue = new Queue(stack, 'Queue', options.fifo === true ? { fifo: true } : {});
  new IngressApi(stack, 'Ingress', { queue, ...props });
  return Template.fromStack(stack);
}
