import type { AnyMessageDefinition } from '../../../lambdas/core/message-type.ts';
import { probe } from '../probe.ts';

/** What is deployed while they wait: other handlers, and one type more. */
export const messages: readonly AnyMessageDefinition[] = [
  probe(() => ({ set: { by: 'after' } }), { type: 'Ordered', ordering: 'sequential' }),
  probe(() => ({ set: { by: 'after' } }), { type: 'Unready' }),
  probe(() => ({ set: { by: 'after' } }), { type: 'Further' }),
];
