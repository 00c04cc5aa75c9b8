/**
 * Stands in for the SDK's event streams in the bundles of functions without providers: DynamoDB, SQS and Step
 * Functions answer no call of theirs by a stream.
 */
export class EventStreamSerde {
  constructor() {
    eventStreamSerdeProvider();
  }
}

export function eventStreamSerdeProvider(): never {
  throw new TypeError('Event streams are left out of this function: call such services from a provider');
}
