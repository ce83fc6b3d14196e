import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isOlder } from '../../src/runtimes/shared/find-program.ts';

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const LIVE = text('scripts/live-cli.mjs');
const PAGE = text('docs/testing.md');

it.each(['claude', 'codex'])(
  'the live lane installs the tested version of %s, and its floor is one that was tried',
  (name) => {
    const source = text(`src/runtimes/${name}/index.ts`);
    const said = (key: string): string => new RegExp(`^ {2}${key}: '([\\d.]+)'`, 'm').exec(source)?.[1] ?? '';
    expect(LIVE).toContain(`const ${name.toUpperCase()} = '${said('tested')}';`);
    expect(isOlder(said('tested'), said('floor'))).toBe(false);
    expect(PAGE).toMatch(new RegExp(`\\| \`${name}\` \\| ${said('floor').replaceAll('.', '\\.')} \\|`));
  },
);
