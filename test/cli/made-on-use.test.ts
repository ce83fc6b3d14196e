import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
/** Without the part that holds libraries with schemas of their own. */
const CHUNKS = readdirSync(DIST).filter((name) => /^cli[a-z0-9-]*\.mjs$/.test(name) && name !== 'cli-engine.mjs');
const LINES = CHUNKS.flatMap((name) =>
  readFileSync(`${DIST}/${name}`, 'utf8')
    .split('\n')
    .map((line) => `${name}: ${line}`),
);

it('the built command line makes its schemas when they are used', () => {
  expect(LINES.filter((line) => /: function \w+Schema(\$\d)?\(\) \{$/.test(line)).length).toBeGreaterThan(300);
  expect(LINES.filter((line) => /: const [a-z]\w*Schema(?:\$\d)? = /.test(line))).toEqual([]);
});

it('and what it needs for letters of other scripts, too', () => {
  expect(LINES.filter((line) => /: (?:const|let) \S+ = (?:new Intl\.Segmenter|\/.*RGI_Emoji)/.test(line))).toEqual([]);
});
