/** For each dimension the choices it has, the first of them the default. */
export type Dimensions = Readonly<Record<string, readonly string[]>>;

/** One choice a dimension. */
export type Combination = Readonly<Record<string, string>>;

/** Every combination of the dimensions. */
export function everyCombination(dimensions: Dimensions): readonly Combination[] {
  return Object.entries(dimensions).reduce<readonly Combination[]>(
    (known, [dimension, choices]) =>
      known.flatMap((combination) => choices.map((choice) => ({ ...combination, [dimension]: choice }))),
    [{}],
  );
}

/**
 * A few combinations in which every pair of choices meets that may.
 * @param isPossible of a combination, in which the dimensions left out have their default
 */
export function everyPair(
  dimensions: Dimensions,
  isPossible: (combination: Combination) => boolean,
): { readonly combinations: readonly Combination[]; readonly impossible: readonly Combination[] } {
  const choices = Object.entries(dimensions).flatMap(([dimension, names]) =>
    names.map((name): Combination => ({ [dimension]: name })),
  );
  const open = new Map(
    pairs(choices)
      .filter((pair) => Object.keys(pair).length === 2)
      .map((pair) => [keyOf(pair), pair]),
  );
  const impossible = [...open.values()].filter((pair) => !isPossible(pair));
  for (const pair of impossible) open.delete(keyOf(pair));

  const combinations: Combination[] = [];
  const metBy = (combination: Combination) =>
    pairs(Object.entries(combination).map(([dimension, name]) => ({ [dimension]: name }))).map(keyOf);
  for (let [next] = open.values(); next !== undefined; [next] = open.values()) {
    let combination = next;
    for (const [dimension, names] of Object.entries(dimensions)) {
      if (dimension in combination) continue;
      const candidates = names
        .map((name) => ({ ...combination, [dimension]: name }))
        .map((candidate) => ({ candidate, gain: metBy(candidate).filter((key) => open.has(key)).length }))
        .sort((one, other) => other.gain - one.gain);
      combination = candidates.find(({ candidate }) => isPossible(candidate))?.candidate ?? combination;
    }
    for (const key of metBy(combination)) open.delete(key);
    combinations.push(combination);
  }
  return { combinations, impossible };
}

const keyOf = (combination: Combination): string => JSON.stringify(Object.entries(combination).sort());

function pairs(entries: readonly Combination[]): readonly Combination[] {
  return entries.flatMap((one, index) => entries.slice(index + 1).map((other) => ({ ...one, ...other })));
}
