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
  const playbook = createReviewPlaybook(options);
  const given = {
    run: 'plan',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: ['planner'],
  };
  const facts = factsOf([member('planner', 'planner')], {
    options: playbook.options?.({ ...given, objective: { criteria: [] } }) ?? {},
    verifies: false,
  });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const turn = ({ task }: { task: string }) =>
    task === 'plan-requests' ? { output: said.length > 1 ? (said.shift() ?? null) : (said[0] ?? null) } : undefined;
  const played = simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { turn } });
  return {
    ...played,
    records: playbook.records?.(createView(played.board)) ?? [],
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
