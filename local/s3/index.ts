export { createS3Dispatch, type S3Call, type S3DispatchOptions } from './router.ts';
export { createS3Store, type S3Snapshot, type S3Store } from './store.ts';
