/** The part of JSON schema, draft 4, that the ingress's model uses. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

const KNOWN = [
  '$schema',
  'title',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'oneOf',
  'items',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'pattern',
];

/**
 * Whether a value is as the schema wants it.
 * @throws Error naming a keyword that is not supported, so that none is taken for fulfilled
 */
export function matchesSchema(value: unknown, schema: Schema): boolean {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.includes(keyword));
  if (unknown !== undefined) throw new Error(`the model uses ${unknown}, which is not supported here`);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false;
  if (schema.oneOf !== undefined && schema.oneOf.filter((one) => matchesSchema(value, one)).length !== 1) {
    return false;
  }
  if (typeof value === 'string') return matchesText(value, schema);
  if (typeof value === 'number') {
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    const fits = value.length <= (schema.maxItems ?? Infinity);
    return fits && (items === undefined || value.every((item) => matchesSchema(item, items)));
  }
  return typeof value !== 'object' || value === null || matchesObject(value, schema);
}

function matchesText(value: string, schema: Schema): boolean {
  const length = [...value].length;
  return (
    length >= (schema.minLength ?? 0) &&
    length <= (schema.maxLength ?? Infinity) &&
    (schema.pattern === undefined || new RegExp(schema.pattern).test(value))
  );
}

function matchesObject(value: object, schema: Schema): boolean {
  const { properties = {}, required = [] } = schema;
  if (required.some((name) => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, entry]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property === undefined ? schema.additionalProperties !== false : matchesSchema(entry, property);
  });
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
