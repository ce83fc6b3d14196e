import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/model/sprint/finding.ts';
import { backlogOf, type Team } from '../../../../src/model/sprint/team.ts';
import { parseText } from '../../../../src/text/markdown.ts';
import { pathProblem } from '../../../../src/text/path-problem.ts';
import { firstFiles, lastFiles, teamFiles } from '../../../../src/view/report/team/team-files.ts';
import { NO_FACTS, type SprintFacts, type TeamFacts } from '../../../../src/view/report/team/team-facts.ts';
import type { RoleTurn } from '../../../../src/view/sprint/run-facts.ts';
import { statusLines, statusOf } from '../../../../src/view/sprint/status.ts';
import { threadMs } from '../../../support/growth.ts';
import { ALL } from '../../../support/lane.ts';
import { T0, teamAfter } from '../../../support/team-records.ts';

const ID = '260324-Sprint-09:00';
const isOver = (): boolean => true;
const factsOf = (sprints: TeamFacts['sprints'], more: Partial<TeamFacts> = {}): TeamFacts => ({
  timezone: 'Asia/Seoul',
  isOver,
  sprints,
  ...more,
});

function turn(role: string, more: Partial<RoleTurn> = {}): RoleTurn {
  const id = `change-0-${role}-1`;
  return {
    id,
    role,
    agent: role,
    runtime: 'claude',
    task: id,
    title: `Change 0 (${id})`,
    startedAt: T0 + 60_000,
    ...more,
  };
}

const answer = {
  ...{ request_id: 'change-0', role: 'developer', status: 'completed', summary: 'Built it', error: null },
  ...{
    insights: ['the cache is cold'],
    artifacts: ['src/a.ts'],
    proposals: { workflow_transition: { outcome: 'advance' } },
  },
};

const FACTS: SprintFacts = {
  ...NO_FACTS,
  turns: [turn('developer', { endedAt: T0 + 120_000, outcome: 'completed', answer }), turn('qa')],
  sessions: [
    {
      role: 'planner',
      agent: 'planner',
      runtime: 'claude',
      session: 's-1',
      startedAt: T0,
      lastUsedAt: T0 + 60_000,
      turns: 5,
    },
  ],
  messages: [
    {
      id: 'm-1',
      from: 'planner',
      to: 'designer',
      kind: 'ask',
      sentAt: T0,
      isRead: false,
      body: { question: 'blue?' },
      says: 'Which?',
    },
  ],
  documents: {
    plan: { path: 'docs/squad/x/plan.md', commit: 'c0ffee'.repeat(6), text: '---\ntitle: x\n---\n# Plan\n' },
  },
};

function textsOf(team: Team, facts: TeamFacts): Map<string, string> {
  return new Map(teamFiles(team, facts).map(({ path, text }) => [path, String(text)]));
}

it('report what a sourcer did for the planner: its turn, its candidates, and what was decided', () => {
  const team = teamAfter({ sprints: 0 });
  const made = { by: 'sourcer' as const, title: 'Close the file', kind: 'bug' as const, priority: 77 };
  const found = { source: 'log' as const, title: 'Traceback', detail: 'in a.py', firstSeen: T0 };
  const files = teamFiles(
    {
      ...team,
      review: new Map([['plan-1', { run: 'u', requests: [], findings: ['f-1', 'f-2'], at: T0 }]]),
      finding: new Map<string, Finding>([
        ['f-1', { ...found, candidate: made, settled: 'b-close' }],
        ['f-2', found],
      ]),
    },
    factsOf(new Map(), {
      planning: {
        ...NO_FACTS,
        turns: [
          turn('sourcer', {
            endedAt: T0,
            outcome: 'completed',
            answer: { ...answer, role: 'sourcer', summary: 'Looked' },
          }),
        ],
      },
    }),
  );
  const textOf = (path: string): string => String(files.find((one) => one.path === path)?.text ?? '');
  expect(JSON.parse(textOf('.teams_runtime/operations/plan-1.json'))).toMatchObject({
    candidates: [
      { finding: 'f-1', source: 'log', candidate: made, settled: 'b-close' },
      { finding: 'f-2', source: 'log', settled: null },
    ],
  });
  expect(textOf('internal/sourcer/journal.md')).toMatch(/summary: Looked[^]*insight: the cache is cold/);
});

describe('the files of a team', () => {
  it('have the places and texts that people and programs know', () => {
    const team = teamAfter({ sprints: 1, active: true });
    const texts = textsOf(team, factsOf(new Map([[ID, FACTS]]), { planning: { ...FACTS, turns: [], messages: [] } }));
    expect([...texts.keys()].toSorted()).toMatchSnapshot('paths');
    const shown = [
      'shared_workspace/backlog.md',
      'shared_workspace/current_sprint.md',
      'developer/journal.md',
      'developer/history.md',
    ];
    const folder = 'shared_workspace/sprints/260324-Sprint-09-00';
    const more = [
      `${folder}/kickoff.md`,
      `${folder}/todo_backlog.md`,
      `${folder}/plan.md`,
      'logs/agents/developer.log',
    ];
    const json = ['.teams_runtime/requests/r-00000000.json', '.teams_runtime/sprints/260324-Sprint-09-00.events.jsonl'];
    for (const path of [...shown, ...more, ...json]) expect(texts.get(path)).toMatchSnapshot(path);
  });

  it('mark a todo as an internal request, and a delegation under way as one', () => {
    const texts = textsOf(teamAfter({ sprints: 1, active: true }), factsOf(new Map([[ID, FACTS]])));
    const request = (name: string): unknown => JSON.parse(texts.get(`.teams_runtime/requests/${name}.json`) ?? '{}');
    expect(request('260324-Sprint-09-00_change-0')).toMatchObject({
      internal: true,
      request_id: `${ID}/change-0`,
      state: 'committed',
    });
    expect(request('r-00000001')).toMatchObject({
      internal: false,
      state: 'planned',
      created_at: '2026-03-24T09:00:00+09:00',
    });
    const relay = [...texts.keys()].filter((path) => path.includes('internal_relay'));
    expect(relay.toSorted()).toEqual([
      '.teams_runtime/internal_relay/archive/developer/change-0-developer-1.json',
      '.teams_runtime/internal_relay/inbox/designer/m-1.json',
      '.teams_runtime/internal_relay/inbox/qa/change-0-qa-1.json',
    ]);
  });

  it('begin with files that say that nothing has happened', () => {
    const first = new Map(firstFiles('Asia/Seoul').map(({ path, text }) => [path, String(text)]));
    expect(first.get('shared_workspace/backlog.md')).toBe('# Backlog\n\nNo item waits.\n');
    expect(first.get('qa/journal.md')).toBe('# Journal of qa\n\nNo sprint has begun yet.\n');
  });

  it('end with the history of a sprint that is over, and leave out sprints that are not asked for', () => {
    const team = teamAfter({ sprints: 3 });
    const files = teamFiles(team, factsOf(new Map([['260324-Sprint-16:12', NO_FACTS]])));
    expect(files.at(-1)?.path).toBe(lastFiles(team).get('260324-Sprint-16:12'));
    const index = String(files.find(({ path }) => path === 'shared_workspace/sprint_history/index.md')?.text);
    for (const id of team.sprint.keys()) expect(index).toContain(id);
    expect(String(files.at(-1)?.text)).toContain('260324-Sprint-16:12');
    expect(files.filter(({ path }) => path.includes('260324-Sprint-09-00'))).toEqual([]);
  });

  it.each([
    '# Heading\n\n```\n---\nkey: 1\n---\n',
    '| a |\n<script>x</script>\n- [ ] item',
    '\u001b[2J\u202eevil [l](http://x)',
  ])('hold the text %j as text, in each of them', (hostile) => {
    const team = teamAfter({ sprints: 2, active: true, hostile });
    const id = '260324-Sprint-16:12';
    const turns = [
      turn('developer', {
        title: hostile,
        agent: hostile,
        outcome: 'completed',
        endedAt: T0,
        answer: { ...answer, summary: hostile, insights: [hostile], proposals: { a: hostile } },
      }),
    ];
    const texts = textsOf(
      team,
      factsOf(
        new Map([
          [id, { ...FACTS, turns, messages: [{ ...FACTS.messages[0]!, id: hostile, to: hostile, body: hostile }] }],
        ]),
      ),
    );
    for (const [path, text] of texts) {
      expect([path, pathProblem(path)]).toEqual([path, undefined]);
      expect([path, /[\u001b\u202e]/.test(text)]).toEqual([path, false]);
      if (path.endsWith('.json')) expect(() => void JSON.parse(text)).not.toThrow();
      if (path.endsWith('.jsonl'))
        for (const line of text.trim().split('\n')) expect(() => void JSON.parse(line)).not.toThrow();
      if (!path.endsWith('.md') || path.endsWith('/plan.md')) continue;
      const titles = parseText(text).filter(({ type, tag }) => type === 'heading_open' && tag === 'h1');
      expect([
        path,
        titles.length,
        /(?<!\\)<script/.test(text.replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '')),
      ]).toEqual([path, 1, false]);
      expect(text.startsWith('# ')).toBe(true);
    }
  });
});

describe('thirty days of a hundred sprints', ALL, () => {
  const fastest = (work: () => unknown): number => {
    const times = [0, 1, 2].map(() => threadMs(() => void work()));
    return Math.min(...times);
  };

  it('take less than 0.3 s for the files of a change, the backlog and the status', () => {
    const team = teamAfter({ sprints: 100, active: true });
    const active = [...team.sprint.keys()].at(-1) ?? '';
    expect(backlogOf(team)).toHaveLength(300);
    const facts = factsOf(new Map([[active, FACTS]]));
    expect(fastest(() => teamFiles(team, facts))).toBeLessThan(300);
    expect(fastest(() => backlogOf(team))).toBeLessThan(300);
    expect(fastest(() => statusLines(statusOf({ team, timezone: 'Asia/Seoul', isOver })))).toBeLessThan(300);
  });

  it('grow with the number of sprints, and no faster', () => {
    const bytes = (sprints: number): number => {
      const team = teamAfter({ sprints });
      const all = new Map([...team.sprint.keys()].map((id) => [id, NO_FACTS]));
      return teamFiles(team, factsOf(all)).reduce((sum, { text }) => sum + text.length, 0);
    };
    const [ten = 0, fifty = 0, hundred = 0] = [10, 50, 100].map(bytes);
    expect((hundred - fifty) / 50 / ((fifty - ten) / 40)).toBeLessThan(1.1);
  });
});
