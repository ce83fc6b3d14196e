import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { shellWord } from '../../text/shell-word.ts';

/** How squad was installed; `folder`: where its next install is typed. */
export type Installed =
  | { readonly by: 'npx' }
  | { readonly by: 'global' }
  | { readonly by: 'checkout' | 'pnpm' | 'project'; readonly folder: string };

const INSIDE = '/node_modules/agentsquad';

/** `own`: the folder of this package. */
export function findInstall(own = ownFolder()): Installed {
  if (!own.endsWith(INSIDE)) return { by: 'checkout', folder: own };
  const before = own.slice(0, -INSIDE.length);
  if (before.includes('/_npx/')) return { by: 'npx' };
  const [folder = before] = before.split('/node_modules/.pnpm/');
  if (!existsSync(join(folder, 'package.json'))) return { by: 'global' };
  return { by: folder === before ? 'project' : 'pnpm', folder };
}

/** The command that puts packages next to squad, where it looks for them. `program`: what is run with them, where nothing stays installed. */
export function addLine(packages: readonly string[], program = 'squad', installed = findInstall()): string {
  const all = packages.join(' ');
  switch (installed.by) {
    case 'npx':
      return `\`npx ${['agentsquad', ...packages].map((name) => `-p ${name}`).join(' ')} ${program}\``;
    case 'global':
      return `\`npm install --global ${all}\``;
    case 'checkout':
      return `\`npm ci\`${inFolder(installed)}`;
    case 'pnpm':
      return `\`pnpm add ${all}\`${inFolder(installed)}`;
    case 'project':
      return `\`npm install ${all}\`${inFolder(installed)}`;
  }
}

/** The command that installs the newest squad in the place of this one; `again`: this one, of which something is missing. */
export function updateLine(how: 'newest' | 'again', installed = findInstall()): string {
  const wanted = how === 'newest' ? 'agentsquad@latest' : 'agentsquad';
  if (installed.by === 'npx') return `\`npx ${wanted}\``;
  if (installed.by !== 'checkout') return addLine([wanted], 'squad', installed);
  const pull = how === 'newest' ? 'git pull && ' : '';
  return `\`${pull}npm ci && npm run build\`${inFolder(installed)}`;
}

function inFolder({ folder }: Extract<Installed, { folder: string }>): string {
  return ` in ${shellWord(folder)}`;
}

function ownFolder(): string {
  return dirname(findPackageJSON(import.meta.url) ?? import.meta.filename);
}

export interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Empty: there is none, or it cannot be read. */
export function manifestIn(folder = ownFolder()): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return {};
  }
}
