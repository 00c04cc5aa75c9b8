export type { StoredMessage } from './message.ts';
export { createSqsDispatch } from './router.ts';
export { createSqsStore, type SqsSnapshot, type SqsStore, type SqsStoreOptions } from './store.ts';
