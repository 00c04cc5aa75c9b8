import { fault, type Reader } from './reader.ts';
import type { Sequence, State } from './types.ts';

/** Checks what needs the whole definition: targets, reachability, unique names, variable scopes. */
export function checkDefinition(reader: Reader, root: Sequence): void {
  checkSequence(reader, root, '$', new Set(), new Set());
}

function checkSequence(
  reader: Reader,
  sequence: Sequence,
  path: string,
  names: Set<string>,
  outerVariables: ReadonlySet<string>,
): void {
  // What leads to or from a refused state is not known, so nothing is said about it.
  const exists = (name: string) => sequence.states.has(name) || reader.refused.has(name);
  if (!exists(sequence.startAt)) {
    fault(reader, `${path}.StartAt`, `there is no state '${sequence.startAt}'`);
  }
  for (const [name, state] of sequence.states) {
    if (names.has(name)) {
      fault(reader, `${path}.States.${name}`, `the name '${name}' is taken by another state of this machine`);
    }
    names.add(name);
    for (const target of targetsOf(state)) {
      if (!exists(target)) {
        fault(reader, `${path}.States.${name}`, `leads to '${target}', which does not exist in this scope`);
      }
    }
  }
  const reached = reach(sequence);
  for (const name of reader.refused.size > 0 ? [] : sequence.states.keys()) {
    if (!reached.has(name)) fault(reader, `${path}.States.${name}`, 'the state is not reachable');
  }
  const own = new Set([...sequence.states.values()].flatMap(variablesOf));
  for (const variable of own) {
    if (outerVariables.has(variable)) {
      fault(
        reader,
        path,
        `assigns '${variable}', a variable of an outer scope; inner scopes can only read it`,
      );
    }
  }
  const visible = new Set([...outerVariables, ...own]);
  for (const [name, state] of sequence.states) {
    const at = `${path}.States.${name}`;
    if (state.type === 'Map') checkSequence(reader, state.processor, `${at}.ItemProcessor`, names, visible);
    if (state.type === 'Parallel') {
      state.branches.forEach((branch, index) => {
        checkSequence(reader, branch, `${at}.Branches[${index}]`, names, visible);
      });
    }
  }
}

function targetsOf(state: State): string[] {
  const targets = state.next === undefined ? [] : [state.next];
  if (state.type === 'Choice') {
    targets.push(...state.choices.map((rule) => rule.next));
    if (state.default !== undefined) targets.push(state.default);
  }
  if ('catch' in state) targets.push(...state.catch.map((catcher) => catcher.next));
  return targets;
}

function variablesOf(state: State): string[] {
  const assigns = [state.assign];
  if (state.type === 'Choice') assigns.push(...state.choices.map((rule) => rule.assign));
  if ('catch' in state) assigns.push(...state.catch.map((catcher) => catcher.assign));
  return assigns.flatMap((assign) => (assign ?? []).map(([name]) => name));
}

function reach(sequence: Sequence): Set<string> {
  const reached = new Set<string>();
  const pending = [sequence.startAt];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const state = sequence.states.get(name);
    if (state === undefined || reached.has(name)) continue;
    reached.add(name);
    pending.push(...targetsOf(state));
  }
  return reached;
}
