import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../text/shell-word.ts';

/** How squad was installed; `folder`: where its next install is typed. */
type Installed =
  | { readonly by: 'npx' }
  | { readonly by: 'global' }
  | { readonly by: 'checkout'; readonly folder: string }
  | { readonly by: 'pnpm' | 'project'; readonly folder: string; readonly newTypescript: boolean };

const PACKAGE = '@langchain/langgraph-api';

/** The command that installs the server where squad, with this file, looks for it. */
export function installLine(file: string, version: string): string {
  return commandFor(findInstall(file), version);
}

function commandFor(installed: Installed, version: string): string {
  const wanted = `${PACKAGE}@${version}`;
  switch (installed.by) {
    case 'npx':
      return `\`npx -p agentsquad -p ${wanted} squad studio\`.`;
    case 'global':
      return `\`npm install --global ${wanted}\`.`;
    case 'checkout':
      return `\`npm ci\` in ${shellWord(installed.folder)}.`;
    case 'pnpm':
      return `\`pnpm add ${wanted}\` in ${shellWord(installed.folder)}.`;
    case 'project': {
      // The server asks for TypeScript 5, which it needs only for graphs in TypeScript; npm refuses it beside a newer one.
      const first = installed.newTypescript ? `npm pkg set 'overrides.${PACKAGE}.typescript=$typescript' && ` : '';
      return `\`${first}npm install ${wanted}\` in ${shellWord(installed.folder)}.`;
    }
  }
}

function findInstall(file: string): Installed {
  const [before, inside] = splitAtLast(file, '/node_modules/agentsquad/');
  if (inside === undefined) return { by: 'checkout', folder: dirname(dirname(file)) };
  if (before.includes('/_npx/')) return { by: 'npx' };
  const [project] = before.split('/node_modules/.pnpm/');
  const folder = project ?? before;
  if (!existsSync(join(folder, 'package.json'))) return { by: 'global' };
  return { by: folder === before ? 'project' : 'pnpm', folder, newTypescript: hasNewTypescript(folder) };
}

function splitAtLast(text: string, part: string): readonly [string, string | undefined] {
  const at = text.lastIndexOf(part);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + part.length)];
}

/** A TypeScript of the project's own which the server does not ask for. */
function hasNewTypescript(folder: string): boolean {
  const { dependencies, devDependencies } = manifestIn(folder);
  if ({ ...dependencies, ...devDependencies }['typescript'] === undefined) return false;
  const { version = '' } = manifestIn(join(folder, 'node_modules', 'typescript'));
  return version !== '' && !version.startsWith('5.');
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifestIn(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return {};
  }
}
