import type { GetObject } from './get-object.ts';
import type { PutObject } from './put-object.ts';

// Few messages need S3, whose client is a quarter of a bundle. Each module that is loaded here by `import()` becomes a
// bundle of its own beside the function's: it is read at the first call, and not whenever a function starts.

export const getObject: GetObject = async (ref, maxBytes) =>
  (await import('./on-demand/get-object.ts')).getObject(ref, maxBytes);

export const putObject: PutObject = async (object) =>
  (await import('./on-demand/put-object.ts')).putObject(object);
