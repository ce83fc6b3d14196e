import { expect, it } from 'vitest';
import { statusLines, statusOf } from '../../../src/view/sprint/status.ts';
import { teamAfter, T0 } from '../../support/team-records.ts';

const isOver = (): boolean => true;
const timezone = 'Asia/Seoul';

it('says between sprints that none is active, and what is next', () => {
  const next = { text: 'no item of the backlog is pending', until: T0 + 86_400_000 };
  const status = statusOf({ team: teamAfter({ sprints: 0 }), timezone, isOver, next });
  expect(status).toMatchObject({ active_sprint_id: null, sprint: null, last_sprint: null, open_requests: 0 });
  expect(statusLines(status)).toEqual([
    'No sprint is active.',
    '',
    'Backlog: empty',
    'Next: no item of the backlog is pending, until 2026-03-25T09:00:00+09:00',
  ]);
});

it('shows the active sprint with its todos, without anything that a terminal would obey', () => {
  const team = teamAfter({ sprints: 2, active: true, hostile: '\u001b[31mred\nsecond line' });
  const status = statusOf({ team, timezone, isOver });
  expect(status).toMatchObject({
    active_sprint_id: '260324-Sprint-16:12',
    sprint: {
      state: 'running',
      phase: 'TODO',
      until: null,
      todos: [{ state: 'committed' }, { state: 'running' }, { state: 'blocked' }],
    },
    last_sprint: { sprint_id: '260324-Sprint-09:00', outcome: 'completed' },
    next: null,
  });
  const lines = statusLines(status);
  expect(lines.join('\n')).not.toMatch(/\u001b|\nsecond/);
  expect(lines).toMatchInlineSnapshot(`
    [
      "Sprint 260324-Sprint-16:12: running, TODO",
      "Milestone: Milestone 1 red second line",
      "Since 2026-03-24T16:12:00+09:00; it wraps up when its todos are done",
      "",
      "3 todos:",
      "  committed      Change 3 red second line  4ddec0ffee10",
      "  running        Change 4 red second line",
      "  blocked        Change 5 red second line",
      "                 why: no key red second line",
      "                 waits for: the key red second line",
      "                 bring it: squad request 'b-change-5: …'",
      "",
      "Backlog: 1 selected, 2 blocked",
      "Next: not checked",
    ]
  `);
});
