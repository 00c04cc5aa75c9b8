import type { JsonValue } from '../../lambdas/core/json.ts';
import { isJsonList } from '../edge/json.ts';
import { EvaluationError } from './errors.ts';
import { type Bindings, type Expression, toJson, UNSUPPORTED } from './expression.ts';

/** A field of a definition with its expressions compiled. */
export type Template =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'expression'; readonly expression: Expression; readonly location: string }
  | { readonly kind: 'array'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Template])[] };

/** What stands between `{%` and `%}`, or undefined when the string is a literal. */
export function expressionSource(text: string): string | undefined {
  if (!text.startsWith('{%') || !text.endsWith('%}') || text.length < 4) return undefined;
  return text.slice(2, -2).trim();
}

/**
 * Compiles every expression of `value`; `compile` gets the source and the field's location (`Output/total`).
 * A part without expressions stays one literal.
 */
export function compileTemplate(
  value: JsonValue,
  location: string,
  compile: (source: string, location: string) => Expression | undefined,
): Template {
  if (typeof value === 'string') {
    const source = expressionSource(value);
    const expression = source === undefined ? undefined : compile(source, location);
    return expression === undefined
      ? { kind: 'literal', value }
      : { kind: 'expression', expression, location };
  }
  if (typeof value !== 'object' || value === null) return { kind: 'literal', value };
  if (isJsonList(value)) {
    const items = value.map((item, index) => compileTemplate(item, `${location}[${index}]`, compile));
    return items.every((item) => item.kind === 'literal')
      ? { kind: 'literal', value }
      : { kind: 'array', items };
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [key, compileTemplate(item, `${location}/${key}`, compile)] as const,
  );
  return entries.every(([, item]) => item.kind === 'literal')
    ? { kind: 'literal', value }
    : { kind: 'object', entries };
}

/**
 * Evaluates a compiled field.
 * @throws EvaluationError when an expression fails, yields nothing, or yields what JSON can't carry.
 */
export async function evaluateTemplate(template: Template, bindings: Bindings): Promise<JsonValue> {
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'expression':
      return evaluateExpression(template.expression, template.location, bindings);
    case 'array': {
      const items: JsonValue[] = [];
      for (const item of template.items) items.push(await evaluateTemplate(item, bindings));
      return items;
    }
    case 'object': {
      const entries: [string, JsonValue][] = [];
      for (const [key, item] of template.entries) entries.push([key, await evaluateTemplate(item, bindings)]);
      return Object.fromEntries(entries);
    }
  }
}

async function evaluateExpression(
  expression: Expression,
  location: string,
  bindings: Bindings,
): Promise<JsonValue> {
  const subject = `The JSONata expression '${expression.source}' specified for the field '${location}'`;
  let result: unknown;
  try {
    result = await expression.evaluate(bindings);
  } catch (error) {
    throw new EvaluationError(`${subject} threw an error during evaluation. ${describe(error)}`, location);
  }
  if (result === undefined) throw new EvaluationError(`${subject} returned nothing (undefined).`, location);
  const json = toJson(result);
  if (json === UNSUPPORTED)
    throw new EvaluationError(`${subject} returned an unsupported result type.`, location);
  return json;
}

function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${'message' in error ? String(error.message) : 'unknown error'}`;
}
