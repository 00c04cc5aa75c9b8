/** The part of JSON schema that the ingress's models use. */
interface Schema {
  readonly type?: string;
}

const KNOWN = ['$schema', 'title', 'type'];

/**
 * Whether a value is as the schema wants it.
 * @throws Error naming a keyword or a type that is not supported, so that none is taken for fulfilled
 */
export function matchesSchema(value: unknown, schema: Schema): boolean {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.includes(keyword));
  if (unknown !== undefined) throw new Error(`the model uses ${unknown}, which is not supported here`);
  if (schema.type !== 'object') throw new Error(`the model is of type ${schema.type}, not of type object`);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
