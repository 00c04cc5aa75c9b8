import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { kilobytes, lambdaEnvironment, shippedBundles } from '../test/helpers/shipped-bundles.ts';

// The functions as they are deployed, beside a worker on Powertools' batch and idempotency: how large the assets are,
// and how long a process takes to load one. `node bench/bundles.ts [--rounds 15]`

const LARGEST_KB = 300;
const LARGEST_RATIO = 0.5;

const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
if (!Number.isInteger(ROUNDS) || ROUNDS < 1) {
  process.stderr.write('--rounds takes a whole number from 1\n');
  process.exit(2);
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const isScript = (file: string) => /\.[cm]?js$/.test(file);

interface Asset {
  readonly name: string;
  /** Absolute path of the module to load; empty for a process that loads nothing. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The functions that the shipped worker deploys. */
const workerAssets = (outdir: string): readonly Asset[] =>
  Object.entries(shippedBundles(outdir)).map(([name, { folder, environment }]) => ({
    name,
    entry: join(folder, 'index.mjs'),
    environment: { ...environment, ...lambdaEnvironment(folder) },
  }));

const COMMONS = /^@aws-lambda-powertools\/commons/;

/** Powertools' packages share one copy of their common part, as packages of one version do. */
const oneCopy: Plugin = {
  name: 'one-copy',
  setup(builder) {
    builder.onResolve({ filter: COMMONS }, ({ path: specifier, kind, pluginData }) =>
      pluginData === 'here'
        ? undefined
        : builder.resolve(specifier, { kind, resolveDir: path('..'), pluginData: 'here' }),
    );
  },
};

/** The peer, bundled with what `NodejsFunction` gives esbuild: minified, with a source map, the rest by default. */
async function peerAsset(name: string, outdir: string, mainFields?: string[]): Promise<Asset> {
  await build({
    entryPoints: [path('peer/handler.ts')],
    outfile: join(outdir, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    minify: true,
    sourcemap: true,
    ...(mainFields === undefined ? {} : { mainFields }),
    plugins: [oneCopy],
    logLevel: 'silent',
  });
  return {
    name,
    entry: join(outdir, 'index.js'),
    environment: {
      NODE_OPTIONS: '--enable-source-maps',
      POWERTOOLS_SERVICE_NAME: 'bench',
      POWERTOOLS_METRICS_NAMESPACE: 'Bench',
      TABLE_NAME: 'bench',
      ...lambdaEnvironment(outdir),
    },
  };
}

function run(script: string, environment: Readonly<Record<string, string>>): string {
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const load = (entry: string) =>
  `const { handler } = await import(${JSON.stringify(pathToFileURL(entry).href)});
   if (typeof handler !== 'function') throw new Error('no handler');`;

/** Milliseconds from a process's start. */
interface Times {
  /** Processor time until the handler is there: the same whatever else the machine does. */
  readonly processor: number;
  /** Time that has passed until then. */
  readonly passed: number;
}

const REPORT = `const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ processor: (user + system) / 1000, passed: performance.now() }));`;

const loadTimes = ({ entry, environment }: Asset): Times =>
  JSON.parse(run(`${entry === '' ? '' : load(entry)}${REPORT}`, environment));

/** The asset's files that are read at init. */
function loadedFiles({ entry, environment }: Asset): readonly string[] {
  const script = `
    const { registerHooks } = await import('node:module');
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    process.once('beforeExit', () => process.stdout.write(JSON.stringify(loaded)));
    ${load(entry)}`;
  const loaded: readonly string[] = JSON.parse(run(script, environment));
  return loaded.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const work = mkdtempSync(join(tmpdir(), 'stepwell-bundles-'));
try {
  const peer = await peerAsset('peer: Powertools batch + idempotency', join(work, 'peer'));
  const modulesFirst = await peerAsset('the peer with mainFields module, main', join(work, 'modules'), [
    'module',
    'main',
  ]);
  const own = workerAssets(join(work, 'cdk.out'));
  const bare: Asset = { ...peer, name: 'node', entry: '' };
  const assets = [peer, modulesFirst, ...own];

  const times = new Map<Asset, Times[]>();
  // Side by side, so that whatever else the machine does falls on all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const asset of [bare, ...assets]) {
      times.set(asset, [...(times.get(asset) ?? []), loadTimes(asset)]);
    }
  }
  const medianOf = (asset: Asset, kind: keyof Times) =>
    median((times.get(asset) ?? []).map((taken) => taken[kind]));
  const added = (asset: Asset, kind: keyof Times) => medianOf(asset, kind) - medianOf(bare, kind);
  const rows = assets.map((asset) => {
    const folder = dirname(asset.entry);
    const scripts = readdirSync(folder).filter(isScript);
    const atInit = kilobytes(loadedFiles(asset));
    return {
      asset,
      atInit,
      later: kilobytes(scripts.map((file) => join(folder, file))) - atInit,
      passed: added(asset, 'passed'),
      processor: added(asset, 'processor'),
      ratio: added(asset, 'processor') / added(peer, 'processor'),
    };
  });

  const bareMillis = [medianOf(bare, 'passed'), medianOf(bare, 'processor')].map((value) => value.toFixed(0));
  console.log(`Node ${process.version}, medians of ${ROUNDS} processes each, less a bare process's ${bareMillis.join(' and ')} ms
  init KB   the bundle: all JavaScript that is read at init, without source maps
  later KB  bundles beside it, for rare calls: each is read by the first call that needs it
  wall ms   from the process's start until the handler is exported
  cpu ms    the processor's time until then
  of peer   cpu ms, as a part of the first row's
`);
  const line = (name: string, ...cells: readonly string[]) =>
    console.log(name.padEnd(38) + cells.map((cell) => cell.padStart(9)).join(''));
  line('function', 'init KB', 'later KB', 'wall ms', 'cpu ms', 'of peer');
  for (const { asset, atInit, later, passed, processor, ratio } of rows) {
    const numbers = [atInit, later, passed, processor].map((value) => value.toFixed(0));
    line(asset.name, ...numbers, ratio.toFixed(2));
  }
  const missed = rows
    .filter(({ asset }) => own.includes(asset))
    .flatMap(({ asset: { name }, atInit, ratio }) => [
      ...(atInit > LARGEST_KB ? [`${name}: ${atInit.toFixed(1)} KB, more than ${LARGEST_KB}`] : []),
      ...(Number(ratio.toFixed(2)) > LARGEST_RATIO
        ? [`${name}: loads in ${ratio.toFixed(2)} of the peer's time, more than ${LARGEST_RATIO}`]
        : []),
    ]);
  console.log(missed.length === 0 ? '\nEvery aim is met.' : `\nMissed:\n${missed.join('\n')}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
