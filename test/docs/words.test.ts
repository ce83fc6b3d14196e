import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PAGE, withWords } from '../../scripts/words-docs.ts';

it('docs/channels.md lists the commands and short forms that are read without a model', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(withWords(page), 'run `npm run words`').toBe(page);
});
