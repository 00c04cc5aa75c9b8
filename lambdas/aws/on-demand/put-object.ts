import { createPutObject } from '../put-object.ts';
import { s3 } from './s3-client.ts';

export const putObject = createPutObject(s3);
