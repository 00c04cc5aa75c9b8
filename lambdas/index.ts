/** `stepwell`: what message types, providers, sources and producers are written with. Knows nothing of the CDK. */
export type { DomainTable, DomainTables } from './core/domain-table.ts';
export type { AttemptPolicyOverride, Envelope, PayloadRef } from './core/envelope.ts';
export {
  ConfigurationError,
  FAILURE_CODES,
  type FailureCode,
  type FailureOptions,
  RetryableFailure,
  type RetryableFailureOptions,
  TerminalFailure,
} from './core/errors.ts';
export { derivedKey } from './core/identity.ts';
export {
  type AggregateView,
  type AnyMessageDefinition,
  defineMessage,
  type EffectRequest,
  type EffectResult,
  type MessageDefinition,
  type Ordering,
  type Plan,
  type PlanEvent,
  type PlanInput,
  type PlanKey,
  type PlanValue,
  type PlanWrite,
} from './core/message-type.ts';
export { type OutboxItem, type OutboxItemOptions, outboxItem } from './core/outbox.ts';
export type { TypeAttempts } from './core/policy.ts';
export {
  type CallFailure,
  defineProvider,
  type EffectAnswer,
  type EffectCall,
  type LookupAnswer,
  type Operation,
  type ProviderContext,
  type ProviderDefinition,
} from './core/provider.ts';
export { sealedKey } from './core/seal.ts';
export type { Source, SourceRecord } from './core/sources.ts';
export { type BusEvent, type EventBridgeSourceOptions, eventBridgeSource } from './sources/event-bridge.ts';
export { type HmacSignatureOptions, hmacSignature, InvalidSignature } from './sources/hmac-signature.ts';
export {
  type ObjectEvent,
  type S3NotificationSourceOptions,
  s3NotificationSource,
} from './sources/s3-notification.ts';
export { type SnsNotification, type SnsSourceOptions, snsSource } from './sources/sns.ts';
export {
  type WebhookRequest,
  type WebhookSourceOptions,
  type WebhookVerifier,
  webhookSource,
} from './sources/webhook.ts';
