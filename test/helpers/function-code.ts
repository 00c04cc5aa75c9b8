import { buildSync } from 'esbuild';
import { entryOf } from './worker-template.ts';

/** A function's own code as one text: what no call reaches is left out, and packages are imported by name. */
export function functionCode(folder: string): string {
  const [output] = buildSync({
    entryPoints: [entryOf(folder)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  }).outputFiles;
  return output?.text ?? '';
}
