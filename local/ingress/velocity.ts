import { type Expression, type Node, parseVelocity, type Reference } from './velocity-syntax.ts';

/** What API Gateway gives a mapping template, as far as the ingress's templates use it. */
export interface TemplateScope {
  readonly body: string;
  /** Path, query and header parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  /** By name after `$context.`, e.g. `requestTimeEpoch`. */
  readonly context: Readonly<Record<string, string>>;
}

/** A rendered template, and what it set in the context, e.g. `responseOverride.status`. */
export interface Rendered {
  readonly text: string;
  readonly overrides: Readonly<Record<string, string>>;
}

/** What of the context a template may set. It may be read before, and is null then. */
const OVERRIDE = /^(requestOverride\.header|responseOverride)\./;

/** The few templates of an ingress are read once. */
const parsed = new Map<string, readonly Node[]>();

/**
 * Renders a mapping template as Velocity 1.7 does: a missing value is null, a comparison with null does not hold.
 * @throws Error naming what is not supported, so that a template never renders to something else than it would there
 */
export function renderVelocity(template: string, scope: TemplateScope): Rendered {
  const renderer = new Renderer(scope);
  const nodes = parsed.get(template) ?? parseVelocity(template);
  parsed.set(template, nodes);
  const text = renderer.render(nodes);
  return { text, overrides: Object.fromEntries(renderer.overrides) };
}

class Renderer {
  readonly overrides = new Map<string, string>();
  readonly #scope: TemplateScope;
  readonly #variables = new Map<string, unknown>();
  #parsed: { readonly value: unknown } | undefined;

  constructor(scope: TemplateScope) {
    this.#scope = scope;
  }

  render(nodes: readonly Node[]): string {
    return nodes.map((node) => this.#renderNode(node)).join('');
  }

  #renderNode(node: Node): string {
    switch (node.type) {
      case 'text':
        return node.text;
      case 'show': {
        const value = this.#resolve(node.reference);
        if (value === null) throw new Error(`the template uses ${node.reference.source}, which has no value`);
        return textOf(value);
      }
      case 'set': {
        const value = this.#evaluate(node.value);
        // As Velocity is set up there, a null changes nothing.
        if (value !== null) this.#assign(node.target, value);
        return '';
      }
      case 'foreach': {
        const list = this.#evaluate(node.list);
        return (Array.isArray(list) ? list : [])
          .map((item) => {
            this.#variables.set(node.name, item);
            return this.render(node.body);
          })
          .join('');
      }
      case 'if': {
        const branch = node.branches.find(({ condition }) => isTrue(this.#evaluate(condition)));
        return this.render(branch?.body ?? node.otherwise);
      }
    }
  }

  #assign({ name, steps, source }: Reference, value: unknown): void {
    if (name !== 'context') {
      if (steps.length > 0) throw new Error(`the template sets ${source}, which is not supported here`);
      this.#variables.set(name, value);
      return;
    }
    const path = pathOf(steps);
    if (!OVERRIDE.test(path)) throw new Error(`the template sets ${source}, which is not supported here`);
    if (this.overrides.has(path))
      throw new Error(`the template sets ${source} twice, which API Gateway refuses`);
    this.overrides.set(path, textOf(value));
  }

  #evaluate(expression: Expression): unknown {
    switch (expression.type) {
      case 'literal':
        return expression.value;
      case 'interpolated':
        return this.render(expression.parts);
      case 'reference':
        return this.#resolve(expression);
      case 'not':
        return !isTrue(this.#evaluate(expression.operand));
      case 'binary': {
        const { operator } = expression;
        const left = this.#evaluate(expression.left);
        if (operator === '||') return isTrue(left) || isTrue(this.#evaluate(expression.right));
        if (operator === '&&') return isTrue(left) && isTrue(this.#evaluate(expression.right));
        return compute(operator, left, this.#evaluate(expression.right));
      }
    }
  }

  #resolve(reference: Reference): unknown {
    const { name, steps, source } = reference;
    const [first, ...others] = steps;
    if (name === 'context') {
      const path = pathOf(steps);
      const value = this.overrides.get(path) ?? this.#scope.context[path];
      if (value === undefined && !OVERRIDE.test(path)) {
        throw new Error(`the template uses ${source}, which has no value`);
      }
      return value ?? null;
    }
    if (name !== 'input' && name !== 'util') {
      return this.#follow(this.#variables.get(name) ?? null, steps, source);
    }
    if (first === undefined) throw new Error(`the template uses ${source}, which is not supported here`);
    const args = (first.args ?? []).map((argument) => this.#evaluate(argument));
    return this.#follow(this.#given(`${name}.${first.name}`, textOf(args[0] ?? ''), source), others, source);
  }

  /** `$input` and `$util`. */
  #given(what: string, argument: string, source: string): unknown {
    switch (what) {
      case 'input.body':
        return this.#scope.body;
      case 'input.params':
        return this.#scope.params[argument] ?? '';
      case 'input.path':
        return this.#atPath(argument) ?? '';
      case 'input.json': {
        const value = this.#atPath(argument);
        return value === undefined ? '""' : JSON.stringify(value);
      }
      case 'util.urlEncode':
        return formEncode(argument);
      default:
        throw new Error(`the template uses ${source}, which is not supported here`);
    }
  }

  #follow(start: unknown, steps: Reference['steps'], source: string): unknown {
    let value = start;
    for (const { name, args } of steps) {
      if (value === null) return null;
      value = args === undefined ? propertyOf(value, name) : this.#call(value, name, args, source);
    }
    return value;
  }

  #call(value: unknown, name: string, args: readonly Expression[], source: string): unknown {
    const given = args.map((argument) => this.#evaluate(argument));
    const result = callOf(value, name, given);
    if (result === undefined) throw new Error(`the template uses ${source}, which is not supported here`);
    return result;
  }

  /** Names and positions from the root on, as in `$.a.b[0]`. */
  #atPath(path: string): unknown {
    this.#parsed ??= { value: parse(this.#scope.body) };
    let value = this.#parsed.value;
    for (const [, name, position] of path.matchAll(/\.([^.[]+)|\[(\d+)\]/g)) {
      const key = name ?? position ?? '';
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? Reflect.get(value, key)
          : undefined;
    }
    return value;
  }
}

const pathOf = (steps: Reference['steps']): string => steps.map(({ name }) => name).join('.');

const isTrue = (value: unknown): boolean => value !== null && value !== false;

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function propertyOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : null;
}

/** Methods of Java's String, Map and List; null where the value has no such method, undefined where none is known. */
function callOf(value: unknown, name: string, [first, second]: readonly unknown[]): unknown {
  const isText = typeof value === 'string';
  const isList = Array.isArray(value);
  const isMap = typeof value === 'object' && value !== null && !isList;
  switch (name) {
    case 'length':
      return isText ? value.length : null;
    case 'matches':
      return isText ? new RegExp(`^(?:${first})$`, 'u').test(value) : null;
    case 'contains':
      return isText ? value.includes(String(first)) : null;
    case 'startsWith':
      return isText ? value.startsWith(String(first)) : null;
    case 'substring':
      return isText ? value.slice(Number(first)) : null;
    case 'codePointCount':
      return isText ? [...value.slice(Number(first), Number(second))].length : null;
    case 'size':
      return isList ? value.length : null;
    case 'containsKey':
      return isMap ? Object.hasOwn(value, String(first)) : null;
    case 'keySet':
      return isMap ? Object.keys(value) : null;
    default:
      return undefined;
  }
}

function compute(operator: string, left: unknown, right: unknown): unknown {
  if (operator === '!=') return !areEqual(left, right);
  if (operator === '==') return areEqual(left, right);
  if (typeof left !== 'number' || typeof right !== 'number') return operator === '+' ? null : false;
  switch (operator) {
    case '+':
      return left + right;
    case '>':
      return left > right;
    case '<':
      return left < right;
    case '>=':
      return left >= right;
    default:
      return left <= right;
  }
}

const areEqual = (left: unknown, right: unknown): boolean => left !== null && left === right;

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** As Java's URLEncoder does. */
const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
