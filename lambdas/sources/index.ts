import type { Source } from '../core/sources.ts';
import { eventBridgeSource } from './event-bridge.ts';
import { snsSource } from './sns.ts';

/** The foreign bodies that this deployment takes: envelopes by SNS and EventBridge. Put your own beside them. */
export const sources: readonly Source[] = [snsSource(), eventBridgeSource()];
