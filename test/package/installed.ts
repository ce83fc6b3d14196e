import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NPM_SETTINGS } from '../support/machine.ts';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export interface LockEntry {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
}

interface Done {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with the tarball, and a Node of ours and nothing of this checkout on the PATH. */
export interface Packed {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly tarball: string;
  /** Paths in the tarball. */
  readonly files: readonly string[];
  run(
    command: string,
    args: readonly string[],
    cwd: string,
    more?: Record<string, string | undefined>,
    input?: string,
  ): Done;
  /** npm of this machine, under our Node, with the person's own cache and registry. Throws where it fails. */
  npm(args: readonly string[], cwd: string): string;
  /** A project that installs the tarball beside these packages; returns its folder. */
  project(name: string, dependencies?: Readonly<Record<string, string>>, flags?: readonly string[]): string;
  close(): void;
}

/** What of this machine npm needs, as test/support/machine.ts has kept it. */
export function npmSettings(): Record<string, string> {
  return JSON.parse(process.env[NPM_SETTINGS] ?? '{}') as Record<string, string>;
}

/** A registry behind the person's own proxy or certificates is reached with the settings of npm that the tests have kept. */
export function isRegistryReached(): boolean {
  const env = { PATH: process.env['PATH'], ...npmSettings() };
  return (
    spawnSync('npm', ['ping', '--fetch-timeout=10000', '--fetch-retries=0'], { env, stdio: 'ignore' }).status === 0
  );
}

const QUIET = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export function pack(): Packed {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-package-')));
  mkdirSync(join(root, 'bin'));
  symlinkSync(process.execPath, join(root, 'bin', 'node'));
  const environment = { PATH: `${join(root, 'bin')}:${process.env['PATH']}`, HOME: root, TMPDIR: root };
  const run: Packed['run'] = (command, args, cwd, more = {}, input = '') => {
    const env = { ...environment, ...more };
    const done = spawnSync(command, args, { cwd, env, input, encoding: 'utf8', timeout: 120_000 });
    return { code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr };
  };
  const npm: Packed['npm'] = (args, cwd) => {
    const path = spawnSync('/bin/sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
    const done = run(process.execPath, [realpathSync(path), ...args], cwd, npmSettings());
    if (done.code !== 0) throw new Error(`npm ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  if (!existsSync(join(PROJECT, 'dist', 'cli.mjs'))) npm(['run', 'build'], PROJECT);
  const [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', root], PROJECT)) as {
    filename: string;
    files: { path: string }[];
  }[];
  const tarball = join(root, packed?.filename ?? '');
  return {
    root,
    environment,
    tarball,
    files: packed?.files.map((file) => file.path) ?? [],
    run,
    npm,
    project: (name, dependencies = {}, flags = []) => {
      const folder = join(root, name);
      mkdirSync(folder);
      const manifest = {
        private: true,
        type: 'module',
        dependencies: { ...dependencies, agentsquad: `file:${tarball}` },
      };
      writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
      npm(['install', ...QUIET, ...flags], folder);
      return folder;
    },
    close: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional?: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function requiredPeers(versionOf: (name: string, manifest: Manifest) => string | undefined): Record<string, string> {
  const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Manifest;
  const names = Object.keys(manifest.peerDependencies).filter((name) => !manifest.peerDependenciesMeta[name]?.optional);
  return Object.fromEntries(names.map((name) => [name, versionOf(name, manifest) ?? '']));
}

/** The newest peers: this project is developed with them, so that `npm ci` has left them in npm's cache. */
export function ownPeers(): Record<string, string> {
  return requiredPeers((name, { devDependencies }) => devDependencies[name]);
}

/** The lowest versions that package.json takes. */
export function lowestPeers(): Record<string, string> {
  return requiredPeers((name, { peerDependencies }) => /\d[\d.]*/.exec(peerDependencies[name] ?? '')?.[0]);
}

/** The packages that npm has installed there, by path. */
export function packagesIn(project: string): [string, LockEntry][] {
  const text = readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8');
  return Object.entries((JSON.parse(text) as { packages: Record<string, LockEntry> }).packages);
}
