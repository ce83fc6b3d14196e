import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { behindBar } from '../../../src/cli/ask/prompts.ts';

const QUESTION = 'Which command tests this repository? squad runs it before work counts as delivered.';

it.each([
  [120, QUESTION],
  [60, 'Which command tests this repository? squad runs it\n│  before work counts as delivered.'],
  [10, 'Which command tests\n│  this repository?\n│  squad runs it before\n│  work counts as\n│  delivered.'],
])('a question stays behind its bar at %d columns', (columns, shown) =>
  expect(behindBar(QUESTION, columns)).toBe(shown),
);

it('so does each that a person answers with a text', () => {
  const folder = join(import.meta.dirname, '../../../src/cli');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const asked = files.flatMap(
    (name) => readFileSync(join(folder, name), 'utf8').match(/await text\(\{[^]*?message:?[^]{11}/g) ?? [],
  );
  expect(asked.length).toBeGreaterThan(2);
  for (const one of asked) expect(one).toMatch(/message: behindBar\($/);
});
