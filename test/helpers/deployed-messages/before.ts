import { RetryableFailure } from '../../../lambdas/core/errors.ts';
import type { AnyMessageDefinition } from '../../../lambdas/core/message-type.ts';
import { probe } from '../probe.ts';

/** What stands when the messages of a test arrive: a type that waits for its turn, and one that is not ready yet. */
export const messages: readonly AnyMessageDefinition[] = [
  probe(() => ({ set: { by: 'before' } }), { type: 'Ordered', ordering: 'sequential' }),
  probe(
    () => {
      throw new RetryableFailure('NOT_YET');
    },
    { type: 'Unready', attempts: { max: 10, baseSeconds: 1, capSeconds: 1 } },
  ),
];
