import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import type { AnswerForm, AnswerReading } from '../../../src/model/plan.ts';
import { createStagesPlaybook } from '../../../src/playbooks/stages/index.ts';
import type { Stage } from '../../../src/playbooks/stages/stage-list.ts';
import { asObject, type Json } from '../../../src/text/json.ts';
import { factsOf, simulate, type Played } from '../simulator.ts';
import { answers, done, OBJECTIVE, stage, TEAM } from './support.ts';

const form = (read: (answer: Readonly<Record<string, unknown>>, task: string) => AnswerReading): AnswerForm => ({
  schema: { type: 'object' },
  guide: ({ roster }) => `Answer ${roster.length} agents.`,
  read: (_, answer, task) => (answer === null ? {} : read(asObject(answer), task)),
});

/** A list with forms of its playbook, played with these answers. */
function played(
  stages: readonly Stage[],
  own: Readonly<Record<string, AnswerForm>>,
  said: Parameters<typeof answers>[0],
): Played {
  const playbook = createStagesPlaybook({ name: 'own', list: { stages }, answers: own });
  const from = {
    run: 'try',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  const options = playbook.options?.(from) ?? {};
  const facts = factsOf(TEAM, { objective: OBJECTIVE, options, verifies: false });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { turn: answers(said) } });
}

const PIECES = form(({ pieces }) => {
  if (!Array.isArray(pieces) || pieces.length === 0) return { problems: ['there is no piece'] };
  const entries = pieces.map((id) => ({ id: String(id), title: `Make ${id}`, brief: `Write ${id}.`, needs: [] }));
  return { entries: entries.map((entry) => ({ ...entry, acceptance: [] })), summary: 'pieces' };
});
const PLAN = [
  stage('PLAN', { by: ['pm'], makes: { answer: 'pieces' } }),
  stage('BUILD', { each: { of: 'PLAN' }, brief: '{item}' }),
];

describe('a form of a playbook', () => {
  it('plans the tasks of another stage, and may limit no paths', () => {
    const { board, end, ...rest } = played(PLAN, { pieces: PIECES }, { plan: { pieces: ['left', 'right'] } });
    expect(end).toMatchObject({ outcome: 'done', why: 'all work is delivered' });
    expect(done({ board, end, ...rest }).toSorted()).toEqual(['left', 'plan', 'right']);
    expect(board.tasks.get('left')?.task).toMatchObject({ brief: { text: expect.stringContaining('Write left.') } });
    expect(board.tasks.get('left')?.task.requires.map(({ kind }) => kind)).toEqual(['commit', 'diff']);
    expect(board.tasks.get('plan')?.task.brief.text).toMatch(/Answer 5 agents\.$/);
  });

  it('sends an answer with problems back to its author, once', () => {
    const again = played(PLAN, { pieces: PIECES }, { plan: [{ says: {} }, { says: { pieces: ['left'] } }] });
    expect(again.turns.slice(0, 3).map(({ task, prompt }) => `${task} ${prompt.why}`)).toEqual([
      ...['plan start', 'plan repair', 'left start'],
    ]);
    expect(again.turns[1]?.prompt).toMatchObject({ text: 'there is no piece' });
    expect(played(PLAN, { pieces: PIECES }, { plan: {} }).end).toMatchObject({
      ...{ outcome: 'failed', why: expect.stringContaining('there is no piece') },
    });
  });

  it('says its problems as a list below what it refuses with', () => {
    const refusing = { ...PIECES, refusal: 'No plan:' };
    const { turns } = played(PLAN, { pieces: refusing }, { plan: [{ says: {} }, { says: { pieces: ['left'] } }] });
    expect(turns[1]?.prompt).toMatchObject({ text: 'No plan:\n- there is no piece' });
  });

  it('judges, with a summary where it has no finding', () => {
    const report = form(({ passed }) => ({
      verdict: { approved: passed === true, summary: passed === true ? 'good' : 'it breaks', findings: [] },
    }));
    const stages = [
      stage('BUILD'),
      stage('TEST', {
        ...{ by: ['reviewer'], makes: { answer: 'report' } },
        judges: { rounds: 2, else: { redo: 'BUILD' } },
      }),
    ];
    const { board, end } = played(stages, { report }, { test: { passed: false }, 'test-2': { passed: true } });
    expect(end).toMatchObject({ outcome: 'done', why: 'good' });
    expect(board.tasks.get('build-2')?.task.brief.text).toContain('it breaks');
  });

  it.each<[string, AnswerReading, string, string]>([
    ['has the last words', { summary: 'built' }, 'done', 'built'],
    ['has none', {}, 'done', 'all work is delivered'],
    ['plans, whose summary is of the plan', { entries: [], summary: 'a plan' }, 'done', 'all work is delivered'],
    [
      'says that something is missing',
      {
        summary: 'built',
        verdict: {
          ...{ approved: false, summary: 'this is missing' },
          findings: [{ file: null, line: null, problem: 'a page', suggestion: null }],
        },
      },
      'failed',
      'close: this is missing:\na page',
    ],
  ])('%s', (_, reading, outcome, why) => {
    const stages = [stage('BUILD'), stage('CLOSE', { by: ['pm'], makes: { answer: 'closed' } })];
    expect(played(stages, { closed: form(() => reading) }, { close: {} }).end).toMatchObject({ outcome, why });
  });

  it('makes its changes when the answer counts, and only then', () => {
    const noted = form(({ ok }, task) =>
      ok === true ? { changes: [{ do: 'put', in: 'notes', id: task, value: { ok } }] } : { problems: ['not yet'] },
    );
    const stages = [stage('NOTE', { by: ['pm'], makes: { answer: 'noted' } })];
    const said: Json = { ok: true };
    const { board, entries } = played(stages, { noted }, { note: [{ says: { ok: false } }, { says: said }] });
    expect(board.records.get('notes')?.get('note')).toEqual(said);
    const puts = entries.flatMap((one) => (one.entry === 'changes' ? one.changes : []));
    expect(puts.filter((change) => change.do === 'put' && change.in === 'notes')).toHaveLength(1);
    // No other stage reads it, so that it is stored once, on its task.
    expect(board.records.get('stage-answers')).toBeUndefined();
  });
});
