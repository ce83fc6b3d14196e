import { describe, expect, it } from 'vitest';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { teamLines } from '../../../src/cli/render/team-lines.ts';
import { teamRegions } from '../../../src/cli/web/team-part.ts';
import { readTeam } from '../../../src/model/sprint/team.ts';
import { shownTeam } from '../../../src/view/sprint/shown-team.ts';
import { shownTeamSchema } from '../../../src/view/sprint/shown-team-schema.ts';
import { stagedRun, stagedView } from '../../cli/board/staged-run.ts';
import { recordsAfter, teamAfter } from '../../support/team-records.ts';

process.env['TZ'] = 'UTC';

const ACTIVE = shownTeam(teamAfter({ sprints: 2, active: true }));

/** A sprint of ten todos, the last of which has failed, and thirty more items. */
function manyOf(todos: number, items: number) {
  const records = recordsAfter({ sprints: 1, active: true });
  const [progress] = [...(records.get('sprint-progress')?.values() ?? [])] as { todos: object[] }[];
  const [item] = [...(records.get('backlog-item')?.values() ?? [])];
  const [todo] = progress?.todos ?? [];
  if (progress === undefined) throw new Error('there is no sprint');
  progress.todos = Array.from({ length: todos }, (_, index) => ({
    ...{ ...todo, id: `t-${index}`, title: `Todo ${index}`, state: index === todos - 1 ? 'failed' : 'queued' },
  }));
  for (let index = 0; index < items; index += 1) records.get('backlog-item')?.set(`b-more-${index}`, item);
  return shownTeam(readTeam((kind) => [...(records.get(kind) ?? [])].map(([id, value]) => ({ id, value }))));
}

describe('a team next to a run', () => {
  it('is not there before anyone asked for something', () => {
    expect(shownTeam(teamAfter({ sprints: 0 }))).toBeUndefined();
  });

  it('is its active sprint, with phase and todos, and the open items of its backlog with their counts', () => {
    expect(ACTIVE?.sprint).toMatchObject({
      ...{ id: '260324-Sprint-16:12', run: 'run-1', state: 'running', phase: 'TODO', milestone: 'Milestone 1' },
      todos: [
        { state: 'committed', commit: expect.stringMatching(/^4ddec0ffee1/) as string },
        { state: 'running', commit: null },
        { state: 'blocked', why: 'no key', waitsFor: ['the key'] },
      ],
    });
    expect(ACTIVE?.backlog.counts).toEqual({ selected: 1, blocked: 2, done: 3 });
    expect(ACTIVE?.backlog.items.map(({ state, priority }) => [state, priority])).toEqual([
      ['selected', 49],
      ['blocked', 48],
      ['blocked', 48],
    ]);
    expect(shownTeamSchema.parse(ACTIVE)).toEqual(ACTIVE);
  });

  it('is the sprint of that run, also once it is over', () => {
    const team = teamAfter({ sprints: 2, active: true });
    expect(shownTeam(team, 'run-0')?.sprint).toMatchObject({ id: '260324-Sprint-09:00', state: 'completed' });
    expect(shownTeam(team, 'run-9')?.sprint).toMatchObject({ id: '260324-Sprint-16:12' });
    expect(shownTeam(teamAfter({ sprints: 2 }), 'run-9')?.sprint).toBeNull();
  });

  it('has at most a hundred open items, and counts all', () => {
    const team = manyOf(1, 150);
    expect(team?.backlog.items).toHaveLength(100);
    expect(team?.backlog.counts).toMatchObject({ pending: 150 });
  });
});

describe('on the board', () => {
  const frame = (team: typeof ACTIVE, columns: number, rows: number): string[] =>
    renderFrame({ ...stagedView(stagedRun(9)), team }, { columns, rows, colour: false });

  it.each([
    [80, 24],
    [120, 40],
  ])('sprint, phase, todos and backlog are there at %d×%d', (columns, rows) => {
    const lines = frame(ACTIVE, columns, rows);
    const text = lines.join('\n');
    expect(lines).toHaveLength(rows);
    expect(text).toMatch(/^─ Sprint · 260324-Sprint-16:12 · running, TODO · 1 blocked, 1 running/m);
    expect(text).toMatch(/^■ blocked {7}Change 5 {2}no key; waits for the key$/m);
    expect(text).toMatch(/^─ Backlog · 1 selected, 2 blocked, 3 done ─/m);
    expect(text).toMatch(/^\d\d:\d\d:\d\d .+/m);
    expect(lines.at(-1)).toMatch(/Ctrl-C/);
  });

  it('begins with the milestone and has all todos and items where there is room', () => {
    const text = frame(ACTIVE, 120, 40).join('\n');
    expect(text).toMatch(
      /^Milestone: Milestone 1\n✓ committed {5}Change 3 {2}4ddec0ffee10\n● running {7}Change 4\n■ blocked .+\n─ Backlog .+\nselected {9}49 {2}b-change-4 {2}Change 4\nblocked {10}48 /m,
    );
  });

  it('has what needs a person where not all todos have room', () => {
    const text = frame(manyOf(10, 30), 80, 24).join('\n');
    expect(text).toMatch(/^✗ failed {8}Todo 9 /m);
    expect(text).toContain('1 failed, 9 queued');
    expect(text).toMatch(/^─ Backlog · 30 pending/m);
    expect(text).not.toContain('Todo 8');
  });

  it('says that no sprint is active', () => {
    expect(frame(shownTeam(teamAfter({ sprints: 1 })), 80, 24).join('\n')).toMatch(/^─ Sprint · none is active ─/m);
  });

  it('is not there in a run of no team', () => {
    expect(frame(undefined, 80, 24).join('\n')).not.toMatch(/Sprint|Backlog/);
  });
});

it('is in a status', () => {
  expect(teamLines({ team: ACTIVE })).toEqual([
    {
      title: 'sprint',
      lines: [
        '260324-Sprint-16:12: running, TODO; 1 blocked, 1 running, 1 committed',
        'milestone: Milestone 1',
        'committed      Change 3  (4ddec0ffee10)',
        'running        Change 4',
        'blocked        Change 5  (no key; waits for the key)',
      ],
    },
    {
      title: 'backlog',
      lines: [
        '1 selected, 2 blocked, 3 done',
        'selected        49  b-change-4  Change 4',
        'blocked         48  b-change-2  Change 2',
        'blocked         48  b-change-5  Change 5',
      ],
    },
  ]);
  expect(teamLines({})).toEqual([]);
});

it('is on the page, with the items of each state together', () => {
  const text = teamRegions(ACTIVE)
    .map(({ html }) => html.text)
    .join('');
  expect(text).toMatch(/260324-Sprint-16:12<\/strong>: running, TODO\. Milestone: Milestone 1/);
  expect(text).toMatch(/<strong class="attention">blocked<\/strong> Change 5 <span class="soft">no key; waits/);
  expect(text).toMatch(/1 item selected<\/summary>.*b-change-4.*2 items blocked<\/summary>.*b-change-2.*b-change-5/);
  expect(teamRegions(undefined)).toEqual([]);
});
