import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';

/** A Task state, at whatever depth it stands. */
export interface TaskState {
  readonly name: string;
  readonly resource: string;
  readonly state: JsonObject;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every state of a definition by name, those of its maps included. */
export function allStates(definition: JsonObject): readonly (readonly [string, JsonObject])[] {
  const states = isObject(definition.States) ? definition.States : {};
  return Object.entries(states).flatMap(([name, state]) => {
    if (!isObject(state)) return [];
    const inner = isObject(state.ItemProcessor) ? allStates(state.ItemProcessor) : [];
    return [[name, state] as const, ...inner];
  });
}

export const taskStates = (definition: JsonObject): readonly TaskState[] =>
  allStates(definition).flatMap(([name, state]) =>
    state.Type === 'Task' ? [{ name, resource: String(state.Resource), state }] : [],
  );

/** The error names that the retriers and catchers of a state match. */
export function matchedErrors(state: JsonObject, kind: 'Retry' | 'Catch'): readonly string[] {
  const rules = state[kind];
  return Array.isArray(rules)
    ? rules.flatMap((rule: JsonValue) =>
        isObject(rule) && Array.isArray(rule.ErrorEquals) ? rule.ErrorEquals.map(String) : [],
      )
    : [];
}
