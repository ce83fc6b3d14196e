import { expect, it } from 'vitest';
import { SPRINT_EXAMPLE, sprintSettingsSchema } from '../../../src/model/sprint/settings.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { problemText } from '../../../src/text/problem.ts';

const sections = { sprint: { schema: sprintSettingsSchema, example: SPRINT_EXAMPLE } };
const parse = (text: string) =>
  parseSettings(`sprint:\n  ${text}\n`, 'squad.yaml', { runtimes: [], sections, checkList: () => [] });

it.each([
  ['timezone: Europe/Berln', 'sprint.timezone: “Europe/Berln” is no time zone'],
  ['timezone: ""', 'is no time zone'],
  ['slots: every day', 'sprint.slots: “every day” is no time in the five fields of cron'],
  ['slots: "0 0 31 2 *"', 'never comes: there is no such day'],
  ['start: hybird', 'did you mean “hybrid”?'],
  ['approve: yes', 'sprint.approve must be todos'],
  ['maxTodo: 3', 'did you mean “maxTodos”?'],
  ['maxTodos: 51', 'at most 50'],
  ['advice: -1', 'at least 0'],
  ['minutes: soon', 'sprint.minutes must be a number'],
  ['folder: ../team', 'sprint.folder'],
  ['discovery: npm test', 'sprint.discovery must be a list'],
  ...['../x', 'squad/sprints', 'a..b', 'a.lock', 'a//b', 'a/', 'a.', '-x', 'a b'].map((name) => [
    ...[`branch: "${name}"`, 'is no name for the line, such as sprints'],
  ]),
])('sprint: { %s } is refused at its line, with what was meant', (text, message) => {
  const read = parse(text ?? '');
  const texts = read.ok ? [] : read.problems.map((problem) => problemText(problem));
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain('squad.yaml:2:');
  expect(texts[0]).toContain(message);
  expect(texts[0]).toContain(SPRINT_EXAMPLE);
  expect(texts[0]).not.toContain('pattern');
});

it.each(['sprints', 'team/line', 'work-1.0', 'squads'])('takes %s for the line', (name) => {
  expect(parse(`branch: ${name}`).ok).toBe(true);
});
