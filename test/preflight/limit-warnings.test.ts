import { expect, it } from 'vitest';
import type { BoundAgent } from '../../src/model/run.ts';
import { limitsSchema } from '../../src/model/settings.ts';
import { limitWarnings } from '../../src/preflight/limit-warnings.ts';

function agent(name: string, runtime: BoundAgent['runtime'], tokens?: number): BoundAgent {
  const about = {
    name,
    role: 'builder',
    runtime,
    access: { level: 'edit' },
    instructions: '',
    account: runtime,
  } as const;
  return tokens === undefined ? about : { ...about, limits: { tokens } };
}

it.each<[string, BoundAgent[], number | undefined, string[]]>([
  ['nobody hides its cost', [agent('ada', 'claude')], undefined, []],
  [
    'codex hides its cost',
    [agent('ada', 'claude'), agent('bob', 'codex'), agent('cyd', 'codex', 5)],
    undefined,
    ['limits.usd is not enforceable for codex: no cost told (bob, cyd) limits.tokens would hold them.'],
  ],
  [
    'the run limits tokens',
    [agent('bob', 'codex')],
    9,
    ['limits.usd is not enforceable for codex: no cost told (bob) Their tokens are limited.'],
  ],
  [
    'each of them limits tokens',
    [agent('bob', 'codex', 9)],
    undefined,
    ['limits.usd is not enforceable for codex: no cost told (bob) Their tokens are limited.'],
  ],
])('%s', (_what, agents, tokens, texts) => {
  const found = limitWarnings({ agents, limits: limitsSchema.parse({ tokens }) });
  expect(found.map(({ text, next }) => `${text} ${next}`)).toEqual(texts);
});
