import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { addLine, findInstall, manifestIn, updateLine } from '../../../src/substrate/system/installed.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-installed-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'my app'));
writeFileSync(join(root, 'my app/package.json'), '{}');
mkdirSync(join(root, '_npx/1b'), { recursive: true });

const BUILD = "`npm ci && npm run build` in '/here/my squad'";

it.each<[string, string, string, string, string]>([
  ['a checkout', 'my squad', BUILD.replace('`', '`git pull && '), BUILD, "`npm ci` in '/here/my squad'"],
  [
    'npm, globally',
    'lib/node_modules/agentsquad',
    '`npm install --global agentsquad@latest`',
    '`npm install --global agentsquad`',
    '`npm install --global pg@8 pg-boss@12`',
  ],
  [
    'npx',
    '_npx/1b/node_modules/agentsquad',
    '`npx agentsquad@latest`',
    '`npx agentsquad`',
    '`npx -p agentsquad -p pg@8 -p pg-boss@12 squad`',
  ],
  [
    'a project',
    'my app/node_modules/agentsquad',
    "`npm install agentsquad@latest` in '/here/my app'",
    "`npm install agentsquad` in '/here/my app'",
    "`npm install pg@8 pg-boss@12` in '/here/my app'",
  ],
  [
    'pnpm',
    'my app/node_modules/.pnpm/agentsquad@0.1.0/node_modules/agentsquad',
    "`pnpm add agentsquad@latest` in '/here/my app'",
    "`pnpm add agentsquad` in '/here/my app'",
    "`pnpm add pg@8 pg-boss@12` in '/here/my app'",
  ],
])('names the commands of %s', (_, path, newest, again, more) => {
  const installed = findInstall(join(root, path));
  const lines = [
    updateLine('newest', installed),
    updateLine('again', installed),
    addLine(['pg@8', 'pg-boss@12'], 'squad', installed),
  ];
  expect(lines.map((line) => line.replace(root, '/here'))).toEqual([newest, again, more]);
});

it('is a checkout here', () => {
  const folder = join(import.meta.dirname, '../../..');
  expect(findInstall()).toEqual({ by: 'checkout', folder });
  expect(manifestIn().peerDependencies).toHaveProperty('pg');
});
