import type { ProviderDefinition } from '../core/provider.ts';
import { email } from './email.ts';
import { model } from './model.ts';
import { notices } from './notices.ts';
import { payments } from './payments.ts';

/** The worker's providers. Each one runs in a function of its own. */
export const providers: readonly ProviderDefinition[] = [payments, notices, email, model];
