import { ConfigurationError } from './errors.ts';
import { canonicalJson, sha256 } from './identity.ts';
import type { AnyMessageDefinition, Ordering } from './message-type.ts';
import type { TypeAttempts } from './policy.ts';

/** What the starter knows of a message type. Schemas and handlers stay in Plan. */
export interface TypeManifest {
  readonly ordering: Ordering;
  readonly stream: string;
  readonly attempts: TypeAttempts;
  readonly executionNames: 'readable' | 'digest';
  readonly data: 'inline' | 'reference';
  readonly onPredecessorFailure: 'block' | 'skip';
}

/** The file that the construct puts beside the starter. Lambda's environment holds only 4 KB. */
export interface Manifest {
  /** Hash of `types`: Plan refuses to run with definitions that the starter does not know. */
  readonly digest: string;
  readonly types: Readonly<Record<string, TypeManifest>>;
}

/** The message types of a worker by name. */
export type MessageRegistry = ReadonlyMap<string, AnyMessageDefinition>;

/**
 * @throws ConfigurationError when two definitions share a type, or the types of one stream differ in ordering or data.
 */
export function createRegistry(definitions: readonly AnyMessageDefinition[]): MessageRegistry {
  const registry = new Map<string, AnyMessageDefinition>();
  const streams = new Map<string, AnyMessageDefinition>();
  for (const definition of definitions) {
    if (registry.has(definition.type)) {
      throw new ConfigurationError(`Message type ${definition.type} is defined twice`);
    }
    registry.set(definition.type, definition);
    const stream = streamOf(definition);
    const other = streams.get(stream);
    if (other !== undefined && other.ordering !== definition.ordering) {
      throw new ConfigurationError(
        `Stream ${stream} is ordered "${other.ordering}" by ${other.type} and "${definition.ordering}" by ${definition.type}: the types of one stream share one ordering`,
      );
    }
    if (other !== undefined && (other.data ?? 'inline') !== (definition.data ?? 'inline')) {
      throw new ConfigurationError(
        `Stream ${stream} holds ${other.type} and ${definition.type}, of which one keeps its data by reference: the types of one stream share one setting of data`,
      );
    }
    streams.set(stream, definition);
  }
  if (registry.size === 0) throw new ConfigurationError('A worker needs at least one message type');
  return registry;
}

export const streamOf = (definition: { readonly type: string; readonly stream?: string }): string =>
  definition.stream ?? definition.type;

/** Derives the manifest that starter and Plan compare. */
export function createManifest(registry: MessageRegistry): Manifest {
  const types: Record<string, TypeManifest> = {};
  for (const [type, definition] of registry) {
    types[type] = {
      ordering: definition.ordering,
      stream: streamOf(definition),
      attempts: definition.attempts ?? {},
      executionNames: definition.executionNames ?? 'readable',
      data: definition.data ?? 'inline',
      onPredecessorFailure: definition.onPredecessorFailure ?? 'block',
    };
  }
  return { digest: sha256(canonicalJson(types)), types };
}
