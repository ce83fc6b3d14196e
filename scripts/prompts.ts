// Writes src/prompts/shipped.ts from the files of the prompts: `npm run prompts`.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemText } from '../src/text/problem.ts';
import { readPrompt } from '../src/prompts/read-prompt.ts';

const FOLDER = fileURLToPath(new URL('../src/prompts', import.meta.url));
export const MODULE = join(FOLDER, 'shipped.ts');

/** The module with all prompts that squad ships. */
export function shippedPrompts(): string {
  const names = globSync('*/*.md', { cwd: FOLDER }).sort();
  const entries = names.map((file) => {
    const read = readPrompt(readFileSync(join(FOLDER, file), 'utf8'), file);
    if (!read.ok) throw new Error(read.problems.map(problemText).join('\n'));
    const { role, occasion, needs, budget, body } = read.value;
    const list = needs.map((need) => `'${need}'`).join(', ');
    return [
      `  '${file.replace(/\.md$/, '')}': {`,
      `    role: ${JSON.stringify(role)},`,
      `    occasion: ${JSON.stringify(occasion)},`,
      `    needs: [${list}],`,
      `    budget: ${budget},`,
      `    body: ${JSON.stringify(body)},`,
      '  },',
    ].join('\n');
  });
  return [
    '// Made from the files beside it by `npm run prompts`.',
    "import type { FactName } from './facts.ts';",
    '',
    'export const PROMPTS = {',
    ...entries,
    '} as const satisfies Readonly<Record<string, Shipped>>;',
    '',
    'interface Shipped {',
    '  readonly role: string;',
    '  readonly occasion: string;',
    '  readonly needs: readonly FactName[];',
    '  /** Bytes of its own text at most. */',
    '  readonly budget: number;',
    '  readonly body: string;',
    '}',
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE, shippedPrompts());
