import type { JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonObject } from '../../edge/json.ts';
import { fault, type Reader, type Reads, readTemplate } from './reader.ts';
import type { Assignments } from './types.ts';

const MAX_NAME_LENGTH = 80;
const NAME = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;

/** Compiles an `Assign` object. */
export function readAssign(
  reader: Reader,
  value: JsonValue | undefined,
  path: string,
  location: string,
  reads: Reads = {},
): Assignments | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) {
    fault(reader, path, "'Assign' must be an object");
    return undefined;
  }
  return Object.entries(value).flatMap(([name, item]) => {
    const at = `${path}.${name}`;
    if (name === 'states' || name.length > MAX_NAME_LENGTH || !NAME.test(name)) {
      const rule = `an identifier of at most ${MAX_NAME_LENGTH} characters other than 'states'`;
      fault(reader, at, `'${name}' can't be a variable's name: it must be ${rule}`);
    }
    const template = readTemplate(reader, item, at, `${location}/${name}`, reads);
    return template === undefined ? [] : [[name, template] as const];
  });
}
