import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const sections = readFileSync(join(ROOT, 'docs/runtime-map.md'), 'utf8').split(/^## /m).slice(1);

/** The cells of a section’s rows, without its head. */
function rowsOf(title: string): string[][] {
  const text = sections.find((section) => section.startsWith(`${title}\n`)) ?? '';
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it('answers each workflow, subflow and layer of the map', () => {
  expect(['Workflows', 'Subflows', 'Layers'].map((title) => rowsOf(title).length)).toEqual([8, 8, 3]);
});

it('names a test that is there, or says why there is none', () => {
  const rows = ['Workflows', 'Subflows', 'Layers'].flatMap(rowsOf);
  const wrong = rows.filter(([, answer = '', proof = '']) => {
    const tests = [...proof.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
    return tests.length === 0 ? !answer.startsWith('declined: ') : tests.some((path) => !existsSync(join(ROOT, path)));
  });
  expect(wrong).toEqual([]);
});
