/** An error that the API answers with. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: string;
  readonly status: number;
  /** Elements of the answer besides code and message. */
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    status: number,
    message: string,
    details: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

export const noSuchBucket = (bucket: string) =>
  new S3Error('NoSuchBucket', 404, 'The specified bucket does not exist', { BucketName: bucket });

export const noSuchKey = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  new S3Error('NoSuchKey', 404, 'The specified key does not exist.', { Key: key }, headers);

export const noSuchVersion = (key: string, versionId: string) =>
  new S3Error('NoSuchVersion', 404, 'The specified version does not exist.', {
    Key: key,
    VersionId: versionId,
  });

export const accessDenied = () => new S3Error('AccessDenied', 403, 'Access Denied');

export const invalidArgument = (message: string, name: string, value: string) =>
  new S3Error('InvalidArgument', 400, message, { ArgumentName: name, ArgumentValue: value });

export const badDigest = (algorithm: string) =>
  new S3Error('BadDigest', 400, `The ${algorithm} you specified did not match the calculated checksum.`);

export const preconditionFailed = (condition: string) =>
  new S3Error('PreconditionFailed', 412, 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });

export const notImplemented = (what: string) =>
  new S3Error('NotImplemented', 501, `The local S3 does not implement ${what}.`);
