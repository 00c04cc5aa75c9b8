import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { renderDefinition, substitute } from '../../../statemachines/definition.ts';

const SOURCE = readFileSync(new URL('../../../statemachines/worker.asl.json', import.meta.url), 'utf8');

function statesOf(value: JsonValue): [string, JsonObject][] {
  if (value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap(statesOf);
  return Object.entries(value).flatMap(([name, entry]: [string, JsonValue]) => {
    const isState = entry !== null && typeof entry === 'object' && 'Type' in entry;
    return [...(isState ? [[name, entry] satisfies [string, JsonObject]] : []), ...statesOf(entry)];
  });
}

describe('the worker’s definition', () => {
  it('leaves no number to be set when it is rendered', () => {
    expect(SOURCE).toContain('$config_');
    expect(JSON.stringify(renderDefinition({ providers: ['Bank'] }))).not.toContain('$config_');
  });

  it('says of every state what it is for, and gives every task a time-out', () => {
    const states = statesOf(JSON.parse(SOURCE));
    expect(states.length).toBeGreaterThan(13);
    for (const [name, state] of states) {
      expect(typeof state.Comment, name).toBe('string');
      if (state.Type === 'Task') expect(state.TimeoutSeconds, name).toBeDefined();
    }
  });

  it('jitters every retry fully', () => {
    const retries = statesOf(JSON.parse(SOURCE)).flatMap(([name, { Retry = [] }]) =>
      (Array.isArray(Retry) ? Retry : []).map((retry: JsonObject) => ({ name, retry })),
    );
    expect(retries.length).toBeGreaterThan(10);
    for (const { name, retry } of retries) {
      if (retry.MaxAttempts !== 0) expect(retry.JitterStrategy, name).toBe('FULL');
    }
  });

  it('names a placeholder that has no value', () => {
    expect(() => substitute(renderDefinition(), {})).toThrow(/placeholder \w+ has no value/);
  });
});
