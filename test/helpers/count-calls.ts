import type { AnyOperation, ProviderDefinition } from '../../lambdas/core/provider.ts';

/** The same providers, and how many of their calls are under way. */
export function countCalls(providers: readonly ProviderDefinition[]): {
  readonly providers: readonly ProviderDefinition[];
  readonly inFlight: () => number;
} {
  let calls = 0;
  const counted = (operation: AnyOperation): AnyOperation => ({
    ...operation,
    async execute(call) {
      calls += 1;
      try {
        return await operation.execute(call);
      } finally {
        calls -= 1;
      }
    },
  });
  return {
    inFlight: () => calls,
    providers: providers.map(({ name, open }) => ({
      name,
      open: (context) =>
        Object.fromEntries(
          Object.entries(open(context)).map(([key, operation]) => [key, counted(operation)]),
        ),
    })),
  };
}
