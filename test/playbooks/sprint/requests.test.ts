import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import { findingSchema } from '../../../src/model/sprint/finding.ts';
import { itemSchema } from '../../../src/model/sprint/item.ts';
import type { ReviewOptions } from '../../../src/model/sprint/options.ts';
import { requestPlanSchema } from '../../../src/model/sprint/request.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { createReviewPlaybook, frozenReview, frozenSprint } from '../../../src/playbooks/sprint/index.ts';
import { playbookOfRun, wantedBy } from '../../../src/playbooks/registry.ts';
import { createView } from '../../../src/rules/view.ts';
import type { Json } from '../../../src/text/json.ts';
import { factsOf, member, simulate } from '../simulator.ts';
import { entry, requestPlans, sprintOptions, write } from '../../support/sprint-script.ts';

const request = (id: string): ReviewOptions['requests'][number] => ({
  ...{ id, text: `Do what ${id} says.`, by: 'dana', joined: [], attachments: [] },
});
const OPTIONS: ReviewOptions = {
  files: '/state/attachments',
  requests: [request('r-1'), request('r-2')],
  findings: [{ id: 'f-1', source: 'log', title: 'Traceback', detail: 'in app.py', firstSeen: 1 }],
  backlog: [entry('b-old')],
};
const finding = (item: string | null): Json => ({ id: 'f-1', item, reason: 'it is the same' });
const from = (id: string): Record<string, Json> => ({ source: `request:${id}` });

function play(...said: Json[]) {
  return playWith(OPTIONS, ...said);
}

function playWith(options: ReviewOptions, ...said: Json[]) {
  return playAs(options, undefined, ...said);
}

/** `sourced`: the answers of the sourcer; absent: there is no agent of that role. null: its turn fails. */
function playAs(options: ReviewOptions, sourced: readonly (Json | null)[] | undefined, ...said: Json[]) {
  const answers = [...(sourced ?? [])];
  const playbook = createReviewPlaybook(options);
  const given = {
    run: 'plan',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: ['planner', ...(sourced === undefined ? [] : ['sourcer'])],
  };
  const roster = [member('planner', 'planner'), ...(sourced === undefined ? [] : [member('sourcer', 'sourcer')])];
  const facts = factsOf(roster, {
    options: playbook.options?.({ ...given, objective: { criteria: [] } }) ?? {},
    verifies: false,
  });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const turn = ({ task }: { task: string }) => {
    if (task === 'source') return { output: (answers.length > 1 ? answers.shift() : answers[0]) ?? null };
    return task === 'plan-requests'
      ? { output: said.length > 1 ? (said.shift() ?? null) : (said[0] ?? null) }
      : undefined;
  };
  const view = () => createView(played.board);
  const played = simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { turn } });
  return {
    ...played,
    records: playbook.records?.(view()) ?? [],
    /** What its planner has besides the brief. */
    background: playbook.background?.(view(), view().task('plan-requests')!) ?? '',
    brief: played.board.tasks.get('plan-requests')?.task.brief.text,
  };
}

describe('a run that plans requests', () => {
  it('shows its planner each request, finding and item, and writes one answer for each', () => {
    const plans = { 'r-1': ['b-new', 'b-old'], 'r-2': [] };
    const { board, records, brief } = play(requestPlans(plans, [write('b-new', from('r-1'))], [finding('b-old')]));
    expect(board.finished?.outcome).toBe('done');
    expect(brief).toContain('## r-1, from dana\n\nDo what r-1 says.');
    expect(brief).toContain('## f-1 (log): Traceback');
    expect(brief).toContain('- b-old (version 1, pending, priority 50, feature): Make b-old');
    const of = (kind: string) => records.filter((one) => one.kind === kind);
    expect(of(KINDS.item).map(({ id, value }) => [id, itemSchema.parse(value).source])).toEqual([
      ['b-new', 'request:r-1'],
    ]);
    expect(of(KINDS.requestPlan).map(({ id, value }) => [id, requestPlanSchema.parse(value)])).toMatchObject([
      ['r-1', { outcome: 'planned', items: ['b-new', 'b-old'], answer: 'r-1 is planned' }],
      ['r-2', { outcome: 'refused', items: [], answer: 'r-2 is refused' }],
    ]);
    expect(of(KINDS.finding).map(({ value }) => findingSchema.parse(value).settled)).toEqual(['b-old']);
  });

  it('names attachments with the paths at which they are read', () => {
    const attachments = [{ id: 'a1', name: 'sketch.png', bytes: 10, sha256: 'a1b2' }];
    const requests = [{ ...request('r-1'), attachments }, request('r-2')];
    const { brief } = playWith({ ...OPTIONS, requests }, requestPlans({ 'r-1': [], 'r-2': [] }, [], [finding(null)]));
    expect(brief).toContain('- sketch.png (10 bytes): /state/attachments/a1b2/sketch.png');
  });

  it.each<[string, Json, string]>([
    [
      'leaves a request out',
      requestPlans({ 'r-1': ['b-old'] }, [], [finding(null)]),
      'the request "r-2" has 0 answers',
    ],
    [
      'answers one that is none',
      requestPlans({ 'r-1': ['b-old'], 'r-2': [], 'r-3': [] }, [], [finding(null)]),
      'there is no request "r-3"',
    ],
    [
      'names an item that is none',
      requestPlans({ 'r-1': ['b-x'], 'r-2': [] }, [], [finding(null)]),
      'names "b-x", which is no item',
    ],
    ['leaves a finding out', requestPlans({ 'r-1': ['b-old'], 'r-2': [] }, []), 'the finding "f-1" has 0 answers'],
    [
      'adds an item of another source',
      requestPlans({ 'r-1': ['b-old'], 'r-2': [] }, [write('b-new', from('r-9'))], [finding(null)]),
      'its source must be one of request:r-1, request:r-2, finding:f-1',
    ],
  ])('asks again for an answer that %s, and then fails with no item changed', (_, wrong, problem) => {
    const good = requestPlans({ 'r-1': ['b-old'], 'r-2': [] }, [], [finding(null)]);
    const again = play(wrong, good);
    expect(again.turns[1]?.prompt).toMatchObject({ why: 'repair', text: expect.stringContaining(problem) });
    expect(again.board.finished?.outcome).toBe('done');
    const never = play(wrong);
    expect(never.board.finished?.outcome).toBe('failed');
    expect(never.records).toEqual([]);
  });
});

describe('findings', () => {
  const more: ReviewOptions['findings'] = [
    ...OPTIONS.findings,
    { id: 'f-2', source: 'log', title: 'Traceback in b', detail: 'in b.py', firstSeen: 1 },
    { id: 'f-3', source: 'dirty-path', title: 'src has changes', detail: 'src/a', firstSeen: 1 },
  ];
  const options: ReviewOptions = { ...OPTIONS, requests: [], findings: more };
  const settled = more.map(({ id }): Json => ({ id, item: null, reason: 'it is no work' }));
  const plans = requestPlans({}, [], settled);
  const candidate = { title: 'Close the file', kind: 'bug', priority: 77, acceptance: ['no Traceback'], why: 'a.py:3' };
  const sourced = (ids: readonly string[], dismissed: readonly string[], extra: Record<string, Json> = {}): Json => ({
    ...{ role: 'sourcer', status: 'completed', summary: 'looked', insights: [], artifacts: [], error: null },
    proposals: {
      candidates: ids.length === 0 ? [] : [{ ...candidate, findings: [...ids] }],
      dismissed: dismissed.map((finding_) => ({ finding: finding_, reason: 'a person works there' })),
    },
    ...extra,
  });
  const candidates = (records: readonly { kind: string; value: Json }[]) =>
    records.filter(({ kind }) => kind === KINDS.finding).map(({ value }) => findingSchema.parse(value).candidate);

  it('become candidates of the sourcer, which the planner reviews', () => {
    const { board, turns, records, background } = playAs(options, [sourced(['f-1', 'f-2'], ['f-3'])], plans);
    expect(board.finished?.outcome).toBe('done');
    expect(turns.map(({ task }) => task)).toEqual(['source', 'plan-requests']);
    expect(board.tasks.get('source')?.task.brief.text).toContain('## f-3 (dirty-path): src has changes');
    expect(background).toMatch(/<candidates-by-the-sourcer>\n- f-1, f-2: bug, priority 77: Close the file\n/);
    expect(background).toContain('- f-3: nothing: a person works there');
    const made = { by: 'sourcer', title: 'Close the file', kind: 'bug', priority: 77 };
    expect(candidates(records)).toEqual([made, made, null]);
  });

  it.each<[string, readonly (Json | null)[] | undefined, number]>([
    ['there is no sourcer', undefined, 0],
    ['its turn fails', [null], 1],
    ['it could not look', [sourced([], [], { status: 'failed', error: 'no shell' })], 1],
    ['it names a finding that is none', [sourced(['f-1', 'f-2', 'f-9'], ['f-3'])], 3],
    ['it leaves one out', [sourced(['f-1', 'f-2'], [])], 3],
    ['it takes and dismisses one', [sourced(['f-1', 'f-2', 'f-3'], ['f-3'])], 3],
    ['it answers as another role', [sourced(['f-1', 'f-2'], ['f-3'], { role: 'planner' })], 3],
    ['its answer is too long', [sourced(['f-1', 'f-2'], ['f-3'], { summary: 'x'.repeat(5_000) })], 3],
  ])('become candidates by rule where %s', (_, said, least) => {
    const { board, turns, records, background } = playAs(options, said, plans);
    expect(board.finished?.outcome).toBe('done');
    expect(turns.filter(({ task }) => task === 'source').length).toBeGreaterThanOrEqual(least);
    expect(background).toMatch(/<candidates-by-squad>\n- f-1: bug, priority 55: Traceback\n/);
    expect(candidates(records)).toMatchObject([
      { by: 'rule', kind: 'bug', priority: 55 },
      { by: 'rule', kind: 'bug', priority: 55 },
      { by: 'rule', kind: 'chore', priority: 20 },
    ]);
  });

  it('have a sourcer repair an answer, and requests alone have none', () => {
    const good = sourced(['f-1', 'f-2'], ['f-3']);
    const { turns, background } = playAs(options, [sourced(['f-1'], ['f-3']), good], plans);
    expect(turns[1]?.prompt).toMatchObject({
      why: 'repair',
      text: expect.stringContaining('the finding "f-2" is in no candidate, and not dismissed') as string,
    });
    expect(background).toContain('candidates-by-the-sourcer');
    expect(Object.keys(createReviewPlaybook(options).roles)).toEqual(['planner', 'sourcer']);
    expect(Object.keys(createReviewPlaybook({ ...OPTIONS, findings: [] }).roles)).toEqual(['planner']);
  });
});

describe('the registry', () => {
  it.each([
    ['sprint', sprintOptions()],
    ['plan-requests', OPTIONS],
  ])('makes the playbook of a run of %s again from its options', (playbook, options) => {
    const frozen = JSON.parse(
      JSON.stringify({ ...options, list: { stages: [] }, folder: 'f', reviewRounds: 4 }),
    ) as Json;
    expect(playbookOfRun({}, { playbook, options: frozen })?.name).toBe(playbook);
    expect(playbookOfRun({}, { playbook, options: frozen })?.records).toBeDefined();
    expect(playbookOfRun({}, { playbook, options: {} })).toBeUndefined();
    expect([frozenSprint(frozen), frozenReview(frozen)].filter((one) => one !== undefined)).toEqual([options]);
  });

  it('says how a sprint is started to who chooses its playbook', () => {
    expect(wantedBy('sprint')).toMatchObject({
      code: 'usage',
      next: expect.stringContaining('squad sprint start "milestone"'),
    });
  });
});
