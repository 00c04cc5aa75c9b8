import { parseEnvelope } from '../core/envelope.ts';
import { sealedText } from '../core/seal.ts';

/** The aggregate that is to be forgotten. */
export interface Forgotten {
  readonly aggregateType: string;
  readonly aggregateId: string;
}

/** Whether a text is a valid envelope of the aggregate. */
export function isEnvelopeOf(text: string | undefined, request: Forgotten): boolean {
  const result = parseEnvelope(text ?? '');
  return (
    result.ok &&
    result.envelope.aggregateType.toUpperCase() === request.aggregateType.toUpperCase() &&
    result.envelope.aggregateId === request.aggregateId
  );
}

/**
 * Whether a body names the aggregate by type and id. It need not be a valid envelope, and may lie in a notice of the
 * quarantine, an event of EventBridge or a notification of SNS.
 * @returns undefined when it names no aggregate at all
 */
export function isBodyOf(body: string, request: Forgotten): boolean | undefined {
  const parsed = jsonOf(body);
  const value = typeof parsed === 'string' ? jsonOf(parsed) : parsed;
  const ids = [request.aggregateId, sealedText(request.aggregateId)];
  const message = fieldOf(value, 'Message');
  const places = [
    value,
    fieldOf(value, 'envelope'),
    fieldOf(value, 'detail'),
    typeof message === 'string' ? jsonOf(message) : undefined,
  ];
  const answers = places.flatMap((one) => {
    const type = fieldOf(one, 'aggregateType');
    const id = fieldOf(one, 'aggregateId');
    if (typeof type !== 'string' || typeof id !== 'string') return [];
    return [type.toUpperCase() === request.aggregateType.toUpperCase() && ids.includes(id)];
  });
  return answers.length === 0 ? undefined : answers.includes(true);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;

/** Whether a text holds the id somewhere, as it is or with JSON's escapes. */
export const holdsId = (body: string, id: string): boolean =>
  [id, JSON.stringify(id).slice(1, -1)].some((spelling) => body.includes(spelling));
