import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { problemText } from '../../../src/text/problem.ts';

const known = { runtimes: ['claude'], sections: {}, checkList: () => [] };
const parse = (lines: readonly string[], whose: 'repository' | 'own' = 'repository') =>
  parseSettings(['schedules:', ...lines].join('\n'), 'squad.yaml', known, whose);
const NIGHTLY = '  - { name: nightly, cron: "0 2 * * *", timezone: Europe/Berlin, objective: nightly.md }';

describe('schedules in squad.yaml', () => {
  it('are read', () => {
    const read = parse([
      NIGHTLY,
      '  - { name: next, cron: "@hourly", timezone: UTC, from: ./next.sh, skipIf: active }',
    ]);
    expect(read.ok && read.value.schedules).toEqual([
      { name: 'nightly', cron: '0 2 * * *', timezone: 'Europe/Berlin', objective: 'nightly.md' },
      { name: 'next', cron: '@hourly', timezone: 'UTC', from: './next.sh', skipIf: 'active' },
    ]);
  });

  it.each([
    [
      'cron: "0 25 * * *", timezone: UTC, objective: a',
      'squad.yaml:3',
      'schedules[1].cron: “0 25 * * *” is no time in the five fields',
    ],
    ['cron: "0 0 31 2 *", timezone: UTC, objective: a', 'squad.yaml:3', 'schedules[1].cron: “0 0 31 2 *” never comes'],
    [
      'cron: "0 2 * * *", timezone: Asia/Seul, objective: a',
      'squad.yaml:3',
      'schedules[1].timezone: “Asia/Seul” is no time zone',
    ],
    ['cron: "0 2 * * *", objective: a', 'squad.yaml:3', 'schedules[1].timezone is missing'],
    ['cron: "0 2 * * *", timezone: UTC', 'squad.yaml:3', 'needs an objective, or under `from`'],
    ['cron: "0 2 * * *", timezone: UTC, objective: a, from: ./b', 'squad.yaml:3', 'and not both'],
    [
      'cron: "0 2 * * *", timezone: UTC, objective: a, skipIf: never',
      'squad.yaml:3',
      'schedules[1].skipIf must be active or unchanged',
    ],
    [
      'cron: "0 2 * * *", timezone: UTC, objective: a, playbook: --yes',
      'squad.yaml:3',
      'is neither the name of a playbook nor a file',
    ],
  ])('%s', (fields, place, message) => {
    const read = parse([NIGHTLY, `  - { name: other, ${fields} }`]);
    const texts = read.ok ? [] : read.problems.map((problem) => problemText(problem));
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain(place);
    expect(texts[0]).toContain(message);
    expect(texts[0]).toContain('schedules:\n      - { name: nightly, cron: "0 2 * * *"');
  });

  it('have names of their own', () => {
    const read = parse([NIGHTLY, NIGHTLY]);
    expect(!read.ok && read.problems.map(({ line, message }) => ({ line, message }))).toEqual([
      {
        line: 3,
        message: 'schedules[1].name: “nightly” is the name of schedules[0] already; each schedule needs its own',
      },
    ]);
  });

  it('are of one repository', () => {
    const read = parse([NIGHTLY], 'own');
    expect(!read.ok && read.problems[0]?.message).toContain('schedules belong in the squad.yaml of one');
  });
});
