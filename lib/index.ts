/** `stepwell/cdk`: the constructs. */
export { IngressApi, type IngressApiProps, type IngressWebhook } from './constructs/ingress-api.ts';
