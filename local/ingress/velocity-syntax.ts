/** A piece of a Velocity template. */
export type Node =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'show'; readonly reference: Reference }
  | { readonly type: 'set'; readonly target: Reference; readonly value: Expression }
  | {
      readonly type: 'foreach';
      readonly name: string;
      readonly list: Expression;
      readonly body: readonly Node[];
    }
  | {
      readonly type: 'if';
      readonly branches: readonly { readonly condition: Expression; readonly body: readonly Node[] }[];
      readonly otherwise: readonly Node[];
    };

export interface Reference {
  readonly type: 'reference';
  readonly name: string;
  /** Properties and, with arguments, calls. */
  readonly steps: readonly { readonly name: string; readonly args?: readonly Expression[] }[];
  /** As written, for messages. */
  readonly source: string;
}

export type Expression =
  | Reference
  | { readonly type: 'literal'; readonly value: string | number | boolean }
  | { readonly type: 'interpolated'; readonly parts: readonly Node[] }
  | { readonly type: 'not'; readonly operand: Expression }
  | {
      readonly type: 'binary';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** Binding from loose to tight. */
const OPERATORS = [['||'], ['&&'], ['==', '!='], ['<=', '>=', '<', '>'], ['+']] as const;
export type Operator = (typeof OPERATORS)[number][number];

/**
 * Reads the part of Velocity 1.7 that the ingress's templates use.
 * @throws Error naming what is not supported
 */
export function parseVelocity(template: string): readonly Node[] {
  const reader = new Reader(template);
  const nodes = reader.nodes();
  if (!reader.atEnd) throw new Error(`the template has ${reader.rest(10)} without an #if or a #foreach`);
  return nodes;
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get atEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  rest(length: number): string {
    return this.#source.slice(this.#at, this.#at + length);
  }

  /** Reads up to the end, or to an `#else`, `#elseif` or `#end` of whoever called. */
  nodes(): Node[] {
    const nodes: Node[] = [];
    while (!this.atEnd) {
      const text = this.#match(/[^#$]+/y);
      if (text !== undefined) nodes.push({ type: 'text', text });
      else if (this.#peek(/#(else|elseif|end)\b|#\{(else|end)\}/y)) break;
      else if (this.#take('#set(')) nodes.push(this.#set());
      else if (this.#take('#if(')) nodes.push(this.#if());
      else if (this.#take('#foreach(')) nodes.push(this.#foreach());
      else if (this.#peek(/#[a-z{@#*]/y))
        throw new Error(`the template uses ${this.rest(20)}, which is not supported here`);
      else if (this.#peek(/\$\{?[A-Za-z]/y)) nodes.push({ type: 'show', reference: this.#reference() });
      else nodes.push({ type: 'text', text: this.#match(/[#$]/y) ?? '' });
    }
    return nodes;
  }

  #set(): Node {
    const target = this.#reference();
    this.#expect('=');
    const value = this.#expression();
    this.#expect(')');
    return { type: 'set', target, value };
  }

  #foreach(): Node {
    const { name } = this.#reference();
    this.#expect('in ');
    const list = this.#expression();
    this.#expect(')');
    const body = this.nodes();
    this.#end();
    return { type: 'foreach', name, list, body };
  }

  #if(): Node {
    const branches: { condition: Expression; body: readonly Node[] }[] = [];
    let otherwise: readonly Node[] = [];
    do {
      const condition = this.#expression();
      this.#expect(')');
      branches.push({ condition, body: this.nodes() });
    } while (this.#take('#elseif('));
    if (this.#take('#{else}') || this.#take('#else')) otherwise = this.nodes();
    this.#end();
    return { type: 'if', branches, otherwise };
  }

  #end(): void {
    if (!this.#take('#{end}') && !this.#take('#end')) {
      throw new Error('the template has an #if or a #foreach without an #end');
    }
  }

  #expression(level = 0): Expression {
    const operators: readonly Operator[] | undefined = OPERATORS[level];
    if (operators === undefined) return this.#primary();
    let left = this.#expression(level + 1);
    for (;;) {
      this.#space();
      const operator = operators.find((one) => this.#take(one));
      if (operator === undefined) return left;
      left = { type: 'binary', operator, left, right: this.#expression(level + 1) };
    }
  }

  #primary(): Expression {
    this.#space();
    if (this.#take('!')) return { type: 'not', operand: this.#primary() };
    if (this.#take('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#peek(/\$/y)) return this.#reference();
    const quoted = this.#match(/'[^']*'|"[^"]*"/y);
    if (quoted !== undefined) {
      const inner = quoted.slice(1, -1);
      return quoted.startsWith('"')
        ? { type: 'interpolated', parts: parseVelocity(inner) }
        : { type: 'literal', value: inner };
    }
    const word = this.#match(/\d+|true\b|false\b/y);
    if (word === undefined)
      throw new Error(`the template uses ${this.rest(20)}, which is not supported here`);
    return { type: 'literal', value: word === 'true' || word === 'false' ? word === 'true' : Number(word) };
  }

  #reference(): Reference {
    const from = this.#at;
    this.#space();
    const named = this.#match(/\$\{?[A-Za-z][\w-]*/y);
    if (named === undefined)
      throw new Error(`the template has ${this.rest(20)} where a reference is expected`);
    const formal = named.startsWith('${');
    const steps: { name: string; args?: readonly Expression[] }[] = [];
    for (;;) {
      const step = this.#match(/\.[A-Za-z][\w-]*/y);
      if (step === undefined) break;
      steps.push(
        this.#take('(') ? { name: step.slice(1), args: this.#arguments() } : { name: step.slice(1) },
      );
    }
    if (formal) this.#expect('}');
    const source = this.#source.slice(from, this.#at).trim();
    return { type: 'reference', name: named.replace(/^\$\{?/, ''), steps, source };
  }

  #arguments(): Expression[] {
    const args: Expression[] = [];
    this.#space();
    if (this.#take(')')) return args;
    do {
      args.push(this.#expression());
      this.#space();
    } while (this.#take(','));
    this.#expect(')');
    return args;
  }

  #space(): void {
    this.#match(/\s+/y);
  }

  #expect(text: string): void {
    this.#space();
    if (!this.#take(text)) throw new Error(`the template has ${this.rest(20)} where ${text} is expected`);
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #peek(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#source);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}
