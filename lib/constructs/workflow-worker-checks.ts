import type { Construct } from 'constructs';
import type { Fault } from '../faults.ts';
import { collectFaults } from './worker-faults/collect.ts';
import { checkFunctions } from './worker-faults/function-faults.ts';
import { checkImportedQueue } from './worker-faults/import-faults.ts';
import { checkModules } from './worker-faults/module-faults.ts';
import { checkNeighbours } from './worker-faults/neighbour-faults.ts';
import { checkQueue } from './worker-faults/queue-faults.ts';
import { checkImportedTable } from './worker-faults/table-faults.ts';
import { checkTimes } from './worker-faults/time-faults.ts';
import type { WorkflowWorker } from './workflow-worker.ts';
import type { WorkflowWorkerProps } from './workflow-worker-props.ts';
import { resolveSettings } from './workflow-worker-settings.ts';

/**
 * Checks the props as a whole and returns everything that is wrong with them.
 * @param worker the worker, or what it is to stand in
 * @param neighbours the other workers of the app
 * @param id the worker's
 */
export const findFaults = (
  worker: Construct,
  props: WorkflowWorkerProps,
  neighbours: readonly WorkflowWorker[],
  id = worker.node.id,
): readonly Fault[] =>
  collectFaults(props, resolveSettings(id, props), [
    checkModules,
    checkFunctions,
    checkQueue,
    checkTimes,
    checkImportedQueue,
    checkImportedTable,
    checkNeighbours(worker, neighbours),
  ]);
