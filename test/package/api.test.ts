import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiFiles, readEntries } from '../../scripts/api-docs.ts';
import { PROJECT } from './installed.ts';

/** The declarations are those of the last build. */
const isBuilt = process.env['SQUAD_TEST_BUILT'] === '1';
const named = isBuilt ? '' : ' (left out: nothing was built for this test run)';

describe('the public API', () => {
  it.skipIf(!isBuilt)(`is what its pages say; \`npm run api\` writes them${named}`, () => {
    for (const [path, text] of apiFiles(PROJECT)) {
      expect(readFileSync(join(PROJECT, path), 'utf8'), path).toBe(text);
    }
  });

  it.skipIf(!isBuilt)(`says of each name what it promises${named}`, () => {
    const silent = [...readEntries(PROJECT)].flatMap(([entry, { exported }]) =>
      [...exported].filter(([, { doc }]) => doc === '').map(([name]) => `${entry}: ${name}`),
    );
    expect(silent).toEqual([]);
  });
});
