// Puts the pinned tools into a cache folder outside of the package, once. None of them is a dependency of squad.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const PEERS = { takt: '0.39.0', 'ralphy-cli': '4.7.2' } as const;

export type Installed = { readonly folder: string } | { readonly why: string };

export function install(name: keyof typeof PEERS): Installed {
  const version = PEERS[name];
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'agentsquad', `peer-${name}-${version}`);
  const isThere = (): boolean => existsSync(join(folder, 'node_modules', name, 'package.json'));
  if (isThere()) return { folder };
  console.log(`Installing ${name} ${version} into ${folder} (once) …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  const npm = spawnSync('npm', ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'], {
    ...{ cwd: folder, encoding: 'utf8', timeout: 600_000 },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (npm.status === 0 && isThere()) return { folder };
  const said = npm.stderr?.split('\n').find((line) => /npm (error|ERR!)/.test(line));
  return { why: said?.replace(/npm (error|ERR!) */, '').slice(0, 100) ?? 'npm install failed' };
}
