import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseObjective } from '../../src/squad/objective/parse-objective.ts';
import { councilOf } from '../../src/playbooks/council/council.ts';
import { member } from '../playbooks/simulator.ts';

it('the example of a council is an objective about a document and the code that it names', () => {
  const text = readFileSync(new URL('../../examples/council-objective.md', import.meta.url), 'utf8');
  const parsed = parseObjective(text, 'council-objective.md');
  expect(parsed).toMatchObject({ ok: true, objective: { frontMatter: { playbook: 'council' } } });
  const objective = { title: '', goals: [], criteria: [], constraints: [], context: '', text };
  const roster = [member('main', 'main'), member('a', 'member')];
  expect(councilOf({ objective, options: {}, roster })).toMatchObject({
    document: 'docs/design.md',
    ofDocument: true,
    codePaths: ['src/router.ts', 'src/retry.ts'],
  });
});
