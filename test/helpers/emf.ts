/** One value of a metric, as a line in CloudWatch's embedded metric format gives it. */
export interface EmittedMetric {
  readonly name: string;
  readonly unit: string;
  readonly namespace: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

interface EmfLine {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [field: string]: unknown;
}

/**
 * The metrics among lines of standard output. Lines of the log are passed over.
 * @throws SyntaxError for a line that is no JSON: CloudWatch would find nothing in it
 */
export function emittedMetrics(lines: readonly string[]): readonly EmittedMetric[] {
  return lines.flatMap((text) => {
    const line: EmfLine = JSON.parse(text);
    return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((names) =>
        Metrics.map(({ Name, Unit }) => ({
          name: Name,
          unit: Unit,
          namespace: Namespace,
          dimensions: Object.fromEntries(names.map((name) => [name, String(line[name])])),
          values: [line[Name]].flat().map(Number),
        })),
      ),
    );
  });
}
