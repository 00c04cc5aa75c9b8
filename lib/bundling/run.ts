/** A process of its own, since a construct cannot wait for a promise. Takes a `BundleRequest` as JSON on standard input. */
import { readFileSync } from 'node:fs';
import { type BundleRequest, bundle } from './bundle.ts';

const request: BundleRequest = JSON.parse(readFileSync(0, 'utf8'));
try {
  await bundle(request);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
