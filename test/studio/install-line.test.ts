import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { installLine } from '../../src/studio/agent-server.ts';
import { findInstall } from '../../src/substrate/system/installed.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-install-line-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const WANTED = '@langchain/langgraph-api@1.5.1';

/** The line for a squad at `path`, beside these packages' manifests, by their path. */
function lineFor(name: string, path: string, manifests: Readonly<Record<string, object>>): string {
  const place = join(root, name);
  for (const [folder, manifest] of Object.entries(manifests)) {
    const file = join(place, folder, 'package.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(manifest));
  }
  return installLine('1.5.1', findInstall(join(place, path))).replace(place, '/here');
}

const INSTALLED = 'node_modules/agentsquad';
const typescript = (version: string) => ({ 'node_modules/typescript': { version } });
const overridden = `npm pkg set 'overrides.@langchain/langgraph-api.typescript=$typescript' && npm install ${WANTED}`;

it.each<[string, string, Readonly<Record<string, object>>, string]>([
  ['a checkout', 'squad', {}, '`npm ci` in /here/squad'],
  ['npm, globally', `lib/${INSTALLED}`, {}, `\`npm install --global ${WANTED}\``],
  ['npx', `_npx/1b/${INSTALLED}`, { '_npx/1b': {} }, `\`npx -p agentsquad -p ${WANTED} squad studio\``],
  ['npm, in a project', `app/${INSTALLED}`, { app: {} }, `\`npm install ${WANTED}\` in /here/app`],
  [
    'a project with the TypeScript that the server asks for',
    INSTALLED,
    { '': { devDependencies: { typescript: '5' } }, ...typescript('5.9.3') },
    `\`npm install ${WANTED}\` in /here`,
  ],
  [
    'a project with a newer one',
    INSTALLED,
    { '': { devDependencies: { typescript: '7.0.2' } }, ...typescript('7.0.2') },
    `\`${overridden}\` in /here`,
  ],
  [
    'a project in which another package has a newer one',
    INSTALLED,
    { '': {}, ...typescript('7.0.2') },
    `\`npm install ${WANTED}\` in /here`,
  ],
  ['pnpm', `app/node_modules/.pnpm/agentsquad@0.1.0/${INSTALLED}`, { app: {} }, `\`pnpm add ${WANTED}\` in /here/app`],
  [
    'a folder whose name a shell would split',
    `my app/${INSTALLED}`,
    { 'my app': {} },
    `\`npm install ${WANTED}\` in '/here/my app'`,
  ],
])('%s', (name, path, manifests, line) => {
  expect(lineFor(name.replaceAll(/\W/g, '-'), path, manifests)).toBe(line);
});
