/**
 * Stands in for the SDK's sign-in by single sign-on in the bundles: it renews what a person who has signed in left in
 * the machine's files, and a function has neither.
 */
export class SSOOIDCClient {
  constructor() {
    throw new TypeError('A function has no single sign-on');
  }
}

export class CreateTokenCommand {}
