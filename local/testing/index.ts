/** `stepwell/testing`: for a team's own tests, in any runner. */
export { type LocalWorker, type StartLocalOptions, startLocal } from './start-local.ts';
export { type TestPlanInput, testPlan } from './test-plan.ts';
export type { WorkerAccess } from './worker-access.ts';
