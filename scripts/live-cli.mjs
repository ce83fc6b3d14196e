// The live lane: puts the pinned, real agents into cache folders outside the package (100–400 MB each), and Debian's bubblewrap
// and socat where that is allowed, then runs test/live-cli against loopback model servers. `claude` and `codex` have to be there;
// the tests of each other agent are skipped where it cannot be installed. No key and no network but the package registries is
// needed. Arguments are passed to vitest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLAUDE = '2.1.328';
const CODEX = '0.169.0';

/** Agents that speak the Agent Client Protocol: package, version, program, size. Opencode's and Copilot's own packages only start these. */
const PLATFORM = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
const ACP = {
  gemini: ['@google/gemini-cli', '0.61.0', 'bundle/gemini.js', '100 MB'],
  opencode: [`opencode-${PLATFORM}`, '1.18.33', 'bin/opencode', '180 MB'],
  copilot: [`@github/copilot-${PLATFORM}`, '1.0.102', 'copilot', '190 MB'],
};

const root = fileURLToPath(new URL('..', import.meta.url));
const caches = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'agentsquad');
const cache = join(caches, `live-${CLAUDE}-${CODEX}`);
const claudePackage = `@anthropic-ai/claude-code-${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
const codexPackage = `@openai/codex-${process.platform}-${process.arch}`;

const binaries = findBinaries() ?? install();
const agents = Object.fromEntries(
  Object.entries(ACP).flatMap(([name, agent]) => {
    const binary = installAgent(name, agent);
    return binary === undefined ? [] : [[`SQUAD_LIVE_${name.toUpperCase()}`, binary]];
  }),
);
installSandboxTools();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const run = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', 'vitest.live.config.ts', ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SQUAD_LIVE_CLAUDE: binaries.claude, SQUAD_LIVE_CODEX: binaries.codex, ...agents },
  },
);
process.exitCode = run.status ?? 1;

function install() {
  console.log(`Installing claude ${CLAUDE} and codex ${CODEX} into ${cache} (about 750 MB, once) …`);
  // The platform packages themselves: no install script runs, and Node 20's npm cannot choose an older claude.
  const isDone = npmInstall(cache, {
    [claudePackage]: CLAUDE,
    [codexPackage]: `npm:@openai/codex@${CODEX}-${process.platform}-${process.arch}`,
  });
  const found = findBinaries();
  if (!isDone || found === undefined) {
    console.error(`The live lane needs both binaries and could not install them into ${cache}.`);
    process.exit(1);
  }
  return found;
}

/** Absolute path of the agent's program; undefined: it could not be installed. */
function installAgent(name, [packageName, version, program, size]) {
  const folder = join(caches, `acp-${name}-${version}`);
  const binary = join(folder, 'node_modules', packageName, program);
  if (existsSync(binary)) return binary;
  console.log(`Installing ${name} ${version} into ${folder} (about ${size}, once) …`);
  if (npmInstall(folder, { [packageName]: version }) && existsSync(binary)) return binary;
  console.log(`${name} ${version} could not be installed: its tests are skipped.`);
  return undefined;
}

function npmInstall(folder, dependencies) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const npm = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--force'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 600_000,
  });
  return npm.status === 0;
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
