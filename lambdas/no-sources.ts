import type { Source } from './core/sources.ts';

/** What the starter is bundled with where a worker has no sources: every body is an envelope. */
export const sources: readonly Source[] = [];
