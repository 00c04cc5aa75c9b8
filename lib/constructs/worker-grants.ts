import { ArnFormat, Stack } from 'aws-cdk-lib';
import { WorkerPermissions } from './worker-permissions.ts';
import type { WorkflowWorker } from './workflow-worker.ts';
import type { WorkflowWorkerProps } from './workflow-worker-props.ts';
import type { ResolvedSettings } from './workflow-worker-settings.ts';

/** Gives each part of a worker the rights that its code needs, on what this worker was made with. */
export function grantPermissions(
  worker: WorkflowWorker,
  props: WorkflowWorkerProps,
  settings: ResolvedSettings,
): void {
  const { payloadBuckets = [], encryptionKey } = props;
  const keys = new Set([
    encryptionKey,
    props.table?.encryptionKey,
    worker.queue.encryptionMasterKey,
    worker.deadLetterQueue.encryptionMasterKey,
    ...payloadBuckets.map((bucket) => bucket.encryptionKey),
  ]);
  const permissions = new WorkerPermissions(
    worker.table,
    [...keys].filter((key) => key !== undefined),
  );
  const quarantines = settings.invalidMessages === 'quarantine';
  const seals = props.messages.some(({ data }) => data === 'reference');
  permissions.starter(worker.starter, {
    queue: worker.queue,
    rejected: quarantines ? worker.quarantineQueue : worker.deadLetterQueue,
    quarantines,
    payloadBucket: worker.payloadBucket,
    stateMachineArn: worker.stateMachine.stateMachine.stateMachineArn,
  });
  permissions.plan(worker.plan, [worker.payloadBucket, ...payloadBuckets]);
  permissions.commit(worker.commit);
  if (seals) {
    const providers = Object.values(worker.providers);
    permissions.putAside({ plan: worker.plan, commit: worker.commit, providers }, worker.payloadBucket);
  }
  permissions.domainTables(
    worker.plan,
    worker.commit,
    Object.values(props.aggregates ?? {}).map(({ table }) => table),
  );
  permissions.reportFailure(worker.reportFailure);
  for (const part of Object.values(worker.providers)) permissions.runEffect(part, worker.payloadBucket);
  for (const [name, { secret }] of Object.entries(props.providerSettings ?? {})) {
    const part = worker.providers[name];
    if (part !== undefined && secret !== undefined) permissions.secret(part, secret);
  }
  if (worker.table.tableStreamArn !== undefined) {
    permissions.waker(worker.waker, {
      streamArn: worker.table.tableStreamArn,
      failures: worker.streamFailureQueue,
      stateMachine: worker.stateMachine,
    });
  }
  permissions.reconciler(worker.reconciler, {
    stateMachine: worker.stateMachine,
    quarantineQueue: worker.quarantineQueue,
    eventSourceArn: Stack.of(worker).formatArn({
      service: 'lambda',
      resource: 'event-source-mapping',
      resourceName: worker.eventSource.eventSourceMappingId,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  });
  permissions.stateMachine(worker.stateMachine);
}
