import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../../src/model/sprint/kinds.ts';
import { readTeam, type Team } from '../../../../src/model/sprint/team.ts';
import { renderMarkdown } from '../../../../src/view/report/markdown.ts';
import { sprintReportDocument } from '../../../../src/view/report/team/sprint-report-document.ts';
import { sprintReport, type SprintReport } from '../../../../src/view/report/team/sprint-report.ts';
import { NO_FACTS, type SprintFacts } from '../../../../src/view/report/team/team-facts.ts';
import { commitOf, recordsAfter, T0 } from '../../../support/team-records.ts';

const ID = '260324-Sprint-09:00';
const COMMIT = commitOf(1);

function teamThatSays(report: unknown, hostile = ''): Team {
  const records = recordsAfter({ sprints: 1, hostile });
  const progress = records.get(KINDS.progress)?.get(ID) as object;
  records.get(KINDS.progress)?.set(ID, { ...progress, report });
  return readTeam((kind) => [...(records.get(kind) ?? [])].map(([id, value]) => ({ id, value })));
}

const FACTS: SprintFacts = {
  ...NO_FACTS,
  commits: [{ commit: COMMIT, subject: 'Change it', paths: ['src/a.ts'] }],
  turns: [
    {
      id: 'a-1',
      role: 'developer',
      agent: 'developer-1',
      runtime: 'claude',
      task: 'a',
      title: 'a',
      startedAt: T0,
      endedAt: T0 + 90_000,
      outcome: 'completed',
      costUsd: 0.5,
    },
    {
      id: 'b-1',
      role: 'qa',
      agent: 'qa',
      runtime: 'codex',
      task: 'b',
      title: 'b',
      startedAt: T0,
      endedAt: T0 + 60_000,
      outcome: 'completed',
      costUsd: null,
    },
  ],
  steps: [],
};

function reportOf(report: unknown, facts: SprintFacts | null = FACTS, hostile = ''): SprintReport {
  const made = sprintReport(teamThatSays(report, hostile), ID, facts ?? undefined, 'Asia/Seoul');
  if (made === undefined) throw new Error('there is no such sprint');
  return made;
}

const change = { title: 'Change 0', before: 'b', after: 'a', artifacts: ['src/a.ts'], why: 'w' };
const none = { headline: 'Done', overview: 'o', changes: [change], contributions: [{ role: 'qa', text: 'tried it' }] };

describe('the report of a sprint', () => {
  it('has the records, and the planner’s words beside them', () => {
    const report = reportOf(none);
    expect(report).toMatchObject({
      state: 'completed',
      headline: 'Done',
      overview: {
        started_at: '2026-03-24T09:00:00+09:00',
        ended_at: '2026-03-24T10:30:00+09:00',
        todos: { committed: 1, completed: 1, blocked: 1 },
      },
      changes: [
        { title: 'Change 0', commit: COMMIT, before: 'b', after: 'a', artifacts: ['src/a.ts'], doubts: [] },
        { title: 'Change 1', commit: null, before: null, doubts: [] },
      ],
      contributions: [
        { role: 'developer', turns: 1, minutes: 1.5, usd: 0.5 },
        { role: 'qa', usd: null, summary: 'tried it' },
      ],
      commits: [{ commit: COMMIT, subject: 'Change it', paths: ['src/a.ts'] }],
      cost: { usd: 0.5, turns: 2, turns_without_cost: 1 },
      judgement: { by_record: '2 of 3 todos delivered, 1 blocked; the line of work has the work.' },
      doubts: [],
      not_checked: [],
    });
    expect(renderMarkdown(sprintReportDocument(report))).toMatchSnapshot();
  });

  it('says of what was not looked up that it was not checked', () => {
    const report = reportOf(none, null);
    expect(report.not_checked).toEqual([
      'contributions',
      'cost',
      'subjects and paths of commits',
      'steps between start and end',
    ]);
    expect(report.cost).toEqual({ usd: null, turns: null, turns_without_cost: null });
    expect(renderMarkdown(sprintReportDocument(report)).match(/not checked/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    [
      'a commit that is none',
      { ...none, overview: 'see deadbeef12' },
      'The planner names the commit deadbeef12, which is not on record.',
    ],
    [
      'a change of no todo',
      { ...none, changes: [{ ...change, title: 'Rewrite all' }] },
      'No todo of this sprint is on record for it.',
    ],
    [
      'a change that was blocked',
      { ...none, changes: [{ ...change, title: 'Change 2' }] },
      'The todo change-2 is blocked, and was not delivered.',
    ],
    [
      'another commit',
      { ...none, changes: [{ ...change, commit: 'abcdef1234' }] },
      `The planner says commit abcdef1234; on record is ${COMMIT}.`,
    ],
    [
      'a file that no commit has',
      { ...none, changes: [{ ...change, artifacts: ['src/b.ts'] }] },
      'The planner names src/b.ts; no commit of the sprint changes it.',
    ],
  ])('marks %s', (_, said, doubt) => {
    const { doubts, changes } = reportOf(said);
    expect([...doubts, ...changes.flatMap((one) => one.doubts)]).toContain(doubt);
  });

  it.each([
    null,
    7,
    'text',
    [],
    {},
    { headline: 3, changes: 'x', issues: [1, 'one'], contributions: [{}] },
    { changes: [{ artifacts: null }, 4] },
  ])('does with an answer like %j', (said) => {
    const report = reportOf(said);
    expect(report.headline).toBe('completed: 2 of 3 todos delivered');
    expect(report.changes.filter(({ todo }) => todo !== null)).toHaveLength(2);
  });

  it.each([
    '# Heading\n\n```\nfence\n---\nkey: 1',
    '| a | b |\n<script>alert(1)</script>',
    '\u001b]8;;http://x\u0007link [a](http://x)',
    '\u202egnp.exe',
  ])('lets the text %j make no markup', (hostile) => {
    const said = {
      ...none,
      headline: hostile,
      overview: hostile,
      issues: [hostile],
      judgement: hostile,
      changes: [{ ...change, why: hostile }],
    };
    const text = renderMarkdown(sprintReportDocument(reportOf(said, FACTS, hostile)));
    const outside = text.replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
    expect(outside.match(/^# /gm)).toHaveLength(1);
    expect(outside).not.toMatch(/(?<!\\)<script|^---$|(?<!\\)\[a\]|^```/m);
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });
});
