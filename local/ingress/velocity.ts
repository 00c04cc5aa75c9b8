/** What API Gateway gives a mapping template, as far as the ingress's templates use it. */
export interface TemplateScope {
  readonly body: string;
  /** Path, query and header parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly context: Readonly<Record<string, string>>;
}

/** A rendered template, and the status that it asked for instead of the mapped one. */
export interface Rendered {
  readonly text: string;
  readonly status?: number;
}

const DIRECTIVE =
  /#set\((\$[\w.]+) = ((?:"[^"]*"|'[^']*'|[^()"']|\([^()]*\))*)\)|#if\(((?:"[^"]*"|'[^']*'|[^()"']|\([^()]*\))*)\)|#else|#end/g;
const REFERENCE =
  /\$(?:util\.urlEncode\(((?:[^()]|\([^()]*\))*)\)|input\.path\('([^']*)'\)|input\.params\('([^']*)'\)|input\.body|context\.[\w.]*\w|\w+)/g;

/**
 * Renders a mapping template: `#set`, `#if`/`#else`/`#end`, and references. Only what the ingress uses.
 * @throws Error naming what is not supported, so that a template never renders to something else than it would there
 */
export function renderVelocity(template: string, scope: TemplateScope): Rendered {
  const variables = new Map<string, string>();
  let status: number | undefined;
  /** Whether each open `#if` shows its present branch. */
  const open: boolean[] = [];
  let text = '';
  let position = 0;
  const shows = () => open.every(Boolean);
  const emit = (piece: string) => {
    if (shows()) text += piece.replace(REFERENCE, (reference) => resolve(reference, scope, variables));
  };
  for (const match of template.matchAll(DIRECTIVE)) {
    emit(template.slice(position, match.index));
    position = match.index + match[0].length;
    const [whole, target, expression = '', condition] = match;
    if (target !== undefined) {
      if (!shows()) continue;
      const value = evaluate(expression, scope, variables);
      if (target === '$context.responseOverride.status') status = Number(value);
      else variables.set(target, value);
    } else if (condition !== undefined) {
      open.push(shows() && holds(condition, scope, variables));
    } else if (whole === '#else') {
      open.push(!open.pop());
    } else if (open.pop() === undefined) {
      throw new Error('the template has an #end without an #if');
    }
  }
  emit(template.slice(position));
  if (open.length > 0) throw new Error('the template has an #if without an #end');
  return { text, ...(status === undefined ? {} : { status }) };
}

function holds(condition: string, scope: TemplateScope, variables: ReadonlyMap<string, string>): boolean {
  if (condition.includes(' || '))
    return condition.split(' || ').some((part) => holds(part, scope, variables));
  if (condition.includes(' && '))
    return condition.split(' && ').every((part) => holds(part, scope, variables));
  const comparison = /^(.+) (==|!=) (.+)$/.exec(condition);
  if (comparison !== null) {
    const [, left = '', operator, right = ''] = comparison;
    const equal = evaluate(left, scope, variables) === evaluate(right, scope, variables);
    return operator === '==' ? equal : !equal;
  }
  const contained = /^(\$[\w.]+)\.contains\("([^"]*)"\)$/.exec(condition);
  if (contained !== null) {
    const [, reference = '', part = ''] = contained;
    return evaluate(reference, scope, variables).includes(part);
  }
  if (condition.startsWith('!')) return !holds(condition.slice(1), scope, variables);
  return evaluate(condition, scope, variables) !== '';
}

function evaluate(expression: string, scope: TemplateScope, variables: ReadonlyMap<string, string>): string {
  const trimmed = expression.trim();
  const literal = /^(?:"([^"$]*)"|'([^']*)'|(\d+))$/.exec(trimmed);
  if (literal !== null) return literal[1] ?? literal[2] ?? literal[3] ?? '';
  return resolve(trimmed, scope, variables);
}

function resolve(reference: string, scope: TemplateScope, variables: ReadonlyMap<string, string>): string {
  const [match] = reference.matchAll(REFERENCE);
  if (match === undefined || match[0] !== reference) {
    throw new Error(`the template uses ${reference}, which is not supported here`);
  }
  const [, encoded, path, parameter] = match;
  if (encoded !== undefined) return formEncode(evaluate(encoded, scope, variables));
  if (path !== undefined) return atPath(scope.body, path);
  if (parameter !== undefined) return scope.params[parameter] ?? '';
  if (reference === '$input.body') return scope.body;
  const value = reference.startsWith('$context.')
    ? scope.context[reference.slice('$context.'.length)]
    : variables.get(reference);
  if (value === undefined) throw new Error(`the template uses ${reference}, which has no value`);
  return value;
}

/** Names from the root on, as in `$.a.b`; text and numbers as they are, nothing for what is missing. */
function atPath(body: string, path: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return '';
  }
  for (const name of path.split('.').slice(1)) {
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? Reflect.get(value, name)
        : undefined;
  }
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** As Java's URLEncoder does. */
const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
