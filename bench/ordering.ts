/**
 * State transitions a message when N versions of one aggregate are sent in order, reversed and shuffled, in virtual
 * time on the local runtime. Fails when a version is not applied once, a wake-up is lost, or the cost of a message
 * grows with N.
 *
 *   node bench/ordering.ts [N …]     10, 100 and 1000 without arguments
 */
import Table from 'cli-table3';
import { messages } from '../lambdas/messages/index.ts';
import { startRuntime } from '../local/runtime.ts';
import { createVirtualClock } from '../local/virtual-clock.ts';
import { seededRandom, sequentialIds } from '../test/helpers/ids.ts';
import { runInOrder, SEND_ORDERS, type SendOrder } from '../test/helpers/order-run.ts';

/** Plan, Commit, Park, and Plan and Commit again; one more for a commit that lost a race. */
const MOST_TRANSITIONS = 6;

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10, 100, 1_000];
if (counts.some((count) => !Number.isInteger(count) || count < 1)) {
  process.stderr.write('bench/ordering.ts takes whole numbers from 1\n');
  process.exit(2);
}

const isOrder = (name: string): name is SendOrder => name in SEND_ORDERS;
const table = new Table({
  head: ['N', 'sent', 'transitions a message', 'most of one', 'parked', 'time-outs', 'virtual seconds'],
});
const faults: string[] = [];
for (const count of counts) {
  for (const order of Object.keys(SEND_ORDERS).filter(isOrder)) {
    const clock = createVirtualClock();
    const runtime = await startRuntime({
      clock,
      random: seededRandom(1),
      newId: sequentialIds(),
      messages,
      sweepSeconds: 0,
    });
    const run = await runInOrder(runtime, clock, count, order);
    await runtime.stop();
    table.push([
      count,
      order,
      run.transitionsPerMessage.toFixed(2),
      run.mostTransitions,
      run.parked,
      run.parkTimeouts,
      run.virtualSeconds,
    ]);
    const name = `${count} ${order}`;
    if (run.version !== count || run.revision !== count)
      faults.push(`${name}: not every version applied once`);
    if (run.parkTimeouts > 0) faults.push(`${name}: ${run.parkTimeouts} wake-ups lost`);
    if (run.mostTransitions > MOST_TRANSITIONS) faults.push(`${name}: ${run.mostTransitions} transitions`);
  }
}
console.log(table.toString());
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exit(faults.length === 0 ? 0 : 1);
