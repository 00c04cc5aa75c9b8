import { createGetObject } from '../get-object.ts';
import { s3 } from './s3-client.ts';

export const getObject = createGetObject(s3);
