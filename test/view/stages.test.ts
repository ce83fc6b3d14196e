import { describe, expect, it } from 'vitest';
import type { Playbook, Playbooks, StageView, View } from '../../src/model/plan.ts';
import { runEventSchema } from '../../src/model/run-event.ts';
import { currentStage, placeText, type ShownStage } from '../../src/model/shown-stage.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { summarizeRun } from '../../src/view/run-summary.ts';
import { openRunEvents } from '../../src/view/run-events.ts';
import { changeOf } from '../../src/view/stages.ts';
import { runStatusSchema, statusOf } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import { plainJson } from '../../src/text/json.ts';
import { rejects, type Script } from '../playbooks/simulator.ts';
import { play as playList, stage, TEAM } from '../playbooks/stages/support.ts';
import { definition, play, RecordedRun } from './report/support.ts';

/** An application's own: the delivery playbook in three stages. */
const mine: Playbooks = {
  mine: (): Playbook<unknown> => ({ ...createDeliveryPlaybook(), name: 'mine', stages: stagesOf }),
};

function stagesOf(view: View): StageView[] {
  const plan = view.task('plan');
  const build = view.task('a');
  const of = (id: string, task: typeof plan, more: Partial<StageView> = {}): StageView => ({
    ...{
      id,
      title: id,
      by: task?.doneBy === undefined ? [] : [task.doneBy],
      tasks: task === undefined ? [] : [task.id],
    },
    state: task === undefined || task.attempts === 0 ? 'waiting' : task.status === 'done' ? 'done' : 'live',
    ...more,
  });
  const taken = build?.round ?? 0;
  return [
    of('PLAN', plan),
    of('BUILD', build),
    of('BUILD_REVIEW', build, { ...(taken > 0 ? { round: { taken, cap: 4 } } : {}) }),
  ];
}

function recorded(): RecordedRun {
  const about = { ...definition(), playbook: 'mine' };
  let reviews = 0;
  const { entries } = play(about, {
    turn: ({ review }) => (review === null || (reviews += 1) > 1 ? undefined : rejects('no test')),
  });
  return new RecordedRun(about).allocate().plan(entries).publish();
}

describe('the stages of an application’s own playbook', () => {
  it('are events, each one that has changed, and all of them first', () => {
    const run = recorded();
    const events = openRunEvents(run.ledger, run.id, { playbooks: mine }).look();
    const stages = events.flatMap((event) => (event.type === 'stage-changed' ? [runEventSchema.parse(event)] : []));
    const told = stages.map((event) => {
      if (event.type !== 'stage-changed') return '';
      const { stage, place, of, change } = event;
      return `${placeText({ stage, place, of })} ${stage.state} ${change} ${stage.round?.taken ?? 0}`;
    });
    expect(told.slice(0, 3)).toEqual([
      'PLAN (1/3) waiting state 0',
      'BUILD (2/3) waiting state 0',
      'BUILD_REVIEW (3/3) waiting state 0',
    ]);
    expect(told).toContain('PLAN (1/3) live state 0');
    expect(told).toContain('BUILD_REVIEW (3/3) live rounds 2');
    expect(told.at(-1)).toBe('BUILD_REVIEW (3/3) done state 2');
  });

  it('are the same for status, list and report', () => {
    const run = recorded();
    const reading = run.read(null, mine);
    expect(reading.stages.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'PLAN done',
      'BUILD done',
      'BUILD_REVIEW done',
    ]);
    const status = runStatusSchema.parse(
      JSON.parse(JSON.stringify(statusOf(viewOf(reading, { now: run.clock.time })))),
    );
    expect(status).toMatchObject({
      stage: 'BUILD_REVIEW',
      stageHistory: ['PLAN', 'BUILD', 'BUILD_REVIEW'],
      stages: [{ id: 'PLAN', by: ['ada'], tasks: ['plan'] }, { id: 'BUILD' }, { id: 'BUILD_REVIEW' }],
      reviewRounds: { BUILD_REVIEW: 2 },
    });
    const row = run.ledger.run(run.id);
    const summary = row === undefined ? undefined : summarizeRun(run.ledger, row, null, run.clock.time, mine);
    expect(summary?.stage).toEqual({ id: 'BUILD_REVIEW', place: 3, of: 3 });
  });

  it('are unknown where the playbook is not registered, or has none', () => {
    const run = recorded();
    expect(run.read().stages).toEqual([]);
    expect(statusOf(viewOf(run.read(), { now: run.clock.time }))).not.toHaveProperty('stages');
    expect(run.read(null, { mine: createDeliveryPlaybook }).stages).toEqual([]);
    expect(
      openRunEvents(run.ledger, run.id)
        .look()
        .map(({ type }) => type),
    ).not.toContain('stage-changed');
  });
});

/** A list of three stages, whose document is rejected once, in the ledger. */
function listed(): RecordedRun {
  const spec = stage('SPEC', { makes: { document: 'spec.md' }, review: { id: 'SPEC_REVIEW', by: ['reviewer', 'pm'] } });
  const list = { stages: [spec, stage('BUILD')] };
  let reviews = 0;
  const turn: Script['turn'] = ({ review }) =>
    review === null || (reviews += 1) > 1 ? undefined : rejects('it names no port');
  const { entries } = playList(list, { script: { turn } });
  const agents = TEAM.map(({ name, role, account }) => {
    return { name, role, account, runtime: 'scripted', access: { level: 'edit' as const }, instructions: '' };
  });
  const options = { list, folder: 'docs/squad/try', reviewRounds: 4 };
  const about = { ...definition(), playbook: 'stages', options: plainJson(options), agents };
  return new RecordedRun(about).allocate().plan(entries).publish();
}

describe('a list of stages', () => {
  it('needs no registered playbook to be read, and counts only rounds that took place', () => {
    const run = listed();
    const status = statusOf(viewOf(run.read(), { now: run.clock.time }));
    expect(status.stages?.map(({ id, title, state, by }) => [id, title, state, by])).toEqual([
      ['SPEC', 'Spec', 'done', ['builder-1']],
      ['SPEC_REVIEW', 'Spec Review', 'done', ['reviewer', 'pm']],
      ['BUILD', 'Build', 'done', ['builder-1']],
    ]);
    expect(status.reviewRounds).toEqual({ SPEC_REVIEW: 2 });
    expect(status.stageHistory).toEqual(['SPEC', 'SPEC_REVIEW', 'BUILD']);
  });

  it('shows a stage go back and come again', () => {
    const run = listed();
    const steps = openRunEvents(run.ledger, run.id)
      .look()
      .flatMap((event) => (event.type === 'stage-changed' && event.change !== 'agents' ? [event] : []))
      .map(({ stage: { id, state, round } }) => `${id} ${state}${round === undefined ? '' : ` ${round.taken}`}`);
    expect(steps.slice(3)).toEqual([
      'SPEC done',
      'SPEC_REVIEW live 1',
      'SPEC live',
      'SPEC_REVIEW waiting 1',
      'SPEC done',
      'SPEC_REVIEW live 2',
      'SPEC_REVIEW done 2',
      'BUILD live',
      'BUILD done',
    ]);
  });
});

describe('squad status', () => {
  process.env['TZ'] = 'UTC';
  const at = Date.UTC(2026, 2, 14, 14, 2);
  const stages: ShownStage[] = [
    { id: 'SPEC', title: 'Spec', state: 'done', by: ['ba'], tasks: ['spec'], startedAt: at - 720_000, endedAt: at },
    {
      ...{ id: 'SPEC_REVIEW', title: 'Review', state: 'live', tasks: ['spec'] },
      ...{ by: ['reviewer', 'p\u001b[2Jm'], round: { taken: 2, cap: 4 }, startedAt: at },
    },
    { id: 'X\nPLAN', title: 'Plan', state: 'waiting', by: [], tasks: [], round: { taken: 0, cap: 4 } },
  ];

  it('shows each stage with its state, its round, who, and since when', () => {
    const run = recorded();
    const reading = { ...run.read(null, mine), stages, driven: true };
    const text = renderStatus(statusOf(viewOf(reading, { now: at })), at + 180_000);
    expect(text).toContain('\n  stage SPEC_REVIEW (2/3)\n');
    expect(text).toContain(
      [
        'stages',
        '  ✓ done       1/3  SPEC         ba, took 12 min',
        '  ◉ live       2/3  SPEC_REVIEW  round 2 of 4, reviewer, pm, since 14:02 (3 min)',
        '  ○ waiting    3/3  X PLAN',
        '',
      ].join('\n'),
    );
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    // The second round has no verdict yet.
    expect(statusOf(viewOf(reading, { now: at })).reviewRounds).toEqual({ SPEC_REVIEW: 1, [stages[2]?.id ?? '']: 0 });
  });
});

describe('where a run is', () => {
  it.each<[StageView['state'][], string | undefined]>([
    [[], undefined],
    [['waiting', 'waiting'], 's0 (1/2)'],
    [['done', 'live', 'waiting'], 's1 (2/3)'],
    [['done', 'waiting', 'live'], 's2 (3/3)'],
    [['done', 'failed', 'waiting'], 's1 (2/3)'],
    [['done', 'failed', 'live'], 's2 (3/3)'],
    [['done', 'skipped', 'waiting'], 's2 (3/3)'],
    [['done', 'skipped', 'done'], 's2 (3/3)'],
  ])('%j: %s', (states, place) => {
    const current = currentStage(states.map((state, index) => ({ id: `s${index}`, state })));
    expect(current === undefined ? undefined : placeText(current)).toBe(place);
  });
});

describe('what is new of a stage', () => {
  const stage = { id: 'A', title: 'A', state: 'live' as const, by: ['bob'], tasks: ['a'], round: { taken: 1, cap: 4 } };
  it.each([
    [undefined, 'state'],
    [stage, undefined],
    [{ ...stage, state: 'waiting' as const, by: [] }, 'state'],
    [{ ...stage, round: { taken: 0, cap: 4 }, by: [] }, 'rounds'],
    [{ ...stage, round: undefined }, 'rounds'],
    [{ ...stage, by: [] }, 'agents'],
    [{ ...stage, startedAt: 1 }, 'agents'],
  ])('%j: %s', (before, change) => {
    expect(changeOf(before, stage)).toBe(change);
  });
});
