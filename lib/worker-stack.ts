import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkflowWorker } from './constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from './constructs/workflow-worker-props.ts';

/** Properties of {@link WorkerStack}. */
export interface WorkerStackProps extends StackProps {
  readonly worker: WorkflowWorkerProps;
}

/** One worker in a stack of its own. */
export class WorkerStack extends Stack {
  readonly worker: WorkflowWorker;

  constructor(scope: Construct, id: string, props: WorkerStackProps) {
    const { worker, ...stackProps } = props;
    super(scope, id, stackProps);
    this.worker = new WorkflowWorker(this, 'Worker', worker);
  }
}
