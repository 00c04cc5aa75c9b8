import type { JsonObject } from '../core/json.ts';
import type { Source } from '../core/sources.ts';
import { asObject, objectOf, textIn } from './json-body.ts';

/** An event of an EventBridge bus. */
export interface BusEvent {
  readonly id: string;
  readonly source: string;
  readonly detailType: string;
  /** ISO 8601 */
  readonly time: string;
  readonly account: string;
  readonly region: string;
  readonly detail: JsonObject;
}

/** Which events a source takes, and what it makes of them. */
export interface EventBridgeSourceOptions {
  /** The event's `source` to take. @default every one */
  readonly source?: string;
  /** The event's `detail-type` to take. @default every one */
  readonly detailType?: string;
  /** The envelope of an event. @default the event's detail is an envelope */
  readonly toEnvelope?: (event: BusEvent) => unknown;
}

/** Events that an EventBridge rule sends to the queue unchanged. */
export function eventBridgeSource(options: EventBridgeSourceOptions = {}): Source {
  const { source, detailType, toEnvelope = ({ detail }) => detail } = options;
  return {
    name: 'event-bridge',
    toEnvelope({ body }) {
      const object = objectOf(body);
      const detail = asObject(object?.detail);
      if (object === undefined || detail === undefined || typeof object['detail-type'] !== 'string') {
        return undefined;
      }
      if (source !== undefined && object.source !== source) return undefined;
      if (detailType !== undefined && object['detail-type'] !== detailType) return undefined;
      return toEnvelope({
        id: textIn(object, 'id'),
        source: textIn(object, 'source'),
        detailType: textIn(object, 'detail-type'),
        time: textIn(object, 'time'),
        account: textIn(object, 'account'),
        region: textIn(object, 'region'),
        detail,
      });
    },
  };
}
