import type { Source } from '../core/sources.ts';
import { objectOf, textIn } from './json-body.ts';

/** A notification as SNS puts it into a queue without raw message delivery. */
export interface SnsNotification {
  readonly messageId: string;
  readonly topicArn: string;
  readonly message: string;
  /** ISO 8601 */
  readonly timestamp: string;
  readonly subject?: string;
}

/** Which notifications a source takes, and what it makes of them. */
export interface SnsSourceOptions {
  /** Topics to take notifications of. @default every topic that may send to the queue */
  readonly topicArns?: readonly string[];
  /** The envelope of a notification. @default the notification's message is the JSON text of an envelope */
  readonly toEnvelope?: (notification: SnsNotification) => unknown;
}

/**
 * Notifications of SNS topics. With raw message delivery the body is the message itself and no source is needed.
 */
export function snsSource(options: SnsSourceOptions = {}): Source {
  const { topicArns, toEnvelope = ({ message }) => objectOf(message) ?? message } = options;
  return {
    name: 'sns',
    toEnvelope({ body }) {
      const object = objectOf(body);
      if (object?.Type !== 'Notification' || typeof object.TopicArn !== 'string') return undefined;
      const topicArn = object.TopicArn;
      if (topicArns !== undefined && !topicArns.includes(topicArn)) return undefined;
      return toEnvelope({
        messageId: textIn(object, 'MessageId'),
        topicArn,
        message: textIn(object, 'Message'),
        timestamp: textIn(object, 'Timestamp'),
        ...(typeof object.Subject === 'string' ? { subject: object.Subject } : {}),
      });
    },
  };
}
