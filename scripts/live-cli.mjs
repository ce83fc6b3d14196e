// The live lane: puts the pinned, real `claude` and `codex` binaries into a cache folder outside the package (350–400 MB
// each), and Debian's bubblewrap and socat where that is allowed, then runs test/live-cli against loopback model servers.
// No key and no network but the package registries is needed. Arguments are passed to vitest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLAUDE = '2.1.328';
const CODEX = '0.169.0';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'agentsquad', `live-${CLAUDE}-${CODEX}`);
const claudePackage = `@anthropic-ai/claude-code-${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
const codexPackage = `@openai/codex-${process.platform}-${process.arch}`;

const binaries = findBinaries() ?? install();
installSandboxTools();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const run = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', 'vitest.live.config.ts', ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SQUAD_LIVE_CLAUDE: binaries.claude, SQUAD_LIVE_CODEX: binaries.codex },
  },
);
process.exitCode = run.status ?? 1;

function install() {
  mkdirSync(cache, { recursive: true });
  const dependencies = {
    [claudePackage]: CLAUDE,
    [codexPackage]: `npm:@openai/codex@${CODEX}-${process.platform}-${process.arch}`,
  };
  writeFileSync(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }));
  console.log(`Installing claude ${CLAUDE} and codex ${CODEX} into ${cache} (about 750 MB, once) …`);
  // The platform packages themselves: no install script runs, and Node 20's npm cannot choose an older claude.
  const npm = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--force'], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 600_000,
  });
  const found = findBinaries();
  if (npm.status !== 0 || found === undefined) {
    console.error(`The live lane needs both binaries and could not install them into ${cache}.`);
    process.exit(1);
  }
  return found;
}

function findBinaries() {
  const claude = join(cache, 'node_modules', claudePackage, 'claude');
  const vendor = join(cache, 'node_modules', codexPackage, 'vendor');
  const triple = existsSync(vendor) ? readdirSync(vendor)[0] : undefined;
  const codex = triple === undefined ? undefined : join(vendor, triple, 'bin', 'codex');
  return codex !== undefined && existsSync(claude) && existsSync(codex) ? { claude, codex } : undefined;
}

/** Claude's OS sandbox needs both; without them its tests say that they could not be run, and why. */
function installSandboxTools() {
  const missing = ['bwrap', 'socat'].filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) {
    console.log(
      `${missing.join(' and ')} cannot be installed here (no root or no apt-get): claude's sandbox stays untested.`,
    );
    return;
  }
  console.log('Installing bubblewrap and socat for claude’s sandbox …');
  spawnSync('apt-get', ['update'], { stdio: 'ignore', timeout: 120_000 });
  spawnSync('apt-get', ['install', '--yes', 'bubblewrap', 'socat'], { stdio: 'ignore', timeout: 300_000 });
}

function isMusl() {
  return process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
}
