import { limitsSchema } from '../../../../src/model/limits.ts';
import { factsOf, member } from '../../../playbooks/simulator.ts';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/model/redaction/redactor.ts';
import { objectiveIn, playbookOfNewSession } from '../../../../src/squad/sources/session/new-session.ts';
import { readObjective } from '../../../../src/squad/preflight/read-input.ts';
import { objectiveWithoutSecrets } from '../../../../src/squad/preflight/secrets.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

describe('the objective of a session that was begun', () => {
  it.each([
    ['front matter', '---\nlimits: { usd: 1000 }\n---\n\nMake things'],
    ['a section', 'Make things\n\n## Goals\n\nin prose'],
  ])('is its description alone: %s', async (_, text) => {
    const kept = [{ path: 'team-session.json', text: JSON.stringify({ task_description: `${text} ${TOKEN}` }) }];
    const objective = await readObjective(objectiveIn({ shown: 'team', kept, invalid: [] }), '/');
    expect(objective).toMatchObject({ goals: [`${text} ${TOKEN}`], criteria: [], frontMatter: {} });
    const cleared = objectiveWithoutSecrets(objective, createRedactor([]));
    expect(cleared).toMatchObject({ goals: [expect.stringMatching(/redacted/)], criteria: [], frontMatter: {} });
    expect(JSON.stringify(cleared)).not.toContain(TOKEN);
  });
});

it.each([
  ['it stays', 'team-session.json', 'TC-older'],
  ['it is not there', 'task-analysis.json', 'TC-new'],
])('a session is called what its state says: %s', (_, path, id) => {
  const place = { folder: '/team', shown: 'team', id: 'TC-new', team: 'new', criteria: [], play: [], playWithout: [] };
  const begun = { shown: 'team', kept: [{ path, text: '{"session_id":"TC-older"}' }], invalid: [] };
  const playbook = playbookOfNewSession(place, begun, 0, createRedactor([]));
  const from = {
    run: 'try',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  const facts = factsOf([member('ada', 'planner')], { options: playbook.options?.(from) ?? {} });
  const parsed = playbook.parse(facts);
  const task = { title: `Design the team of ${id}` };
  expect(parsed.ok && playbook.plan(parsed.input)).toContainEqual({
    do: 'add-task',
    task: expect.objectContaining(task),
  });
});
