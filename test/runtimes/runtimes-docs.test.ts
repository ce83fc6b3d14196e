import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readResults, runtimesPage, titles } from '../../scripts/runtimes-docs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the page of the runtimes', () => {
  it('is what the committed results say (npm run runtimes)', () => {
    expect(readFileSync(join(ROOT, 'docs/runtimes.md'), 'utf8')).toBe(runtimesPage(readResults(ROOT)));
  });

  it.each(readResults(ROOT))('has no result of $name for a case that the suite has no more', ({ cases }) => {
    expect(Object.keys(cases).filter((title) => !titles().includes(title))).toEqual([]);
  });
});
