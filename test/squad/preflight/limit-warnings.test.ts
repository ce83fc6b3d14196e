import { expect, it } from 'vitest';
import type { BoundAgent } from '../../../src/model/run.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import { limitWarnings } from '../../../src/model/limits.ts';

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
    ['codex does not report cost, so the USD limit cannot stop it (bob, cyd) Set `tokens` or `turns`.'],
  ],
  [
    'the run limits tokens',
    [agent('bob', 'codex')],
    9,
    ['codex does not report cost, so the USD limit cannot stop it (bob) Its tokens are limited.'],
  ],
  [
    'each of them limits tokens',
    [agent('bob', 'codex', 9)],
    undefined,
    ['codex does not report cost, so the USD limit cannot stop it (bob) Its tokens are limited.'],
  ],
])('%s', (_what, agents, tokens, texts) => {
  const found = limitWarnings({
    described: { codex: { reportsCost: false } },
    agents,
    limits: limitsSchema.parse({ tokens }),
  });
  expect(found.map(({ text, next }) => `${text} ${next}`)).toEqual(texts);
});
