import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { BacklogItem, BacklogState } from '../../../src/model/sprint/item.ts';
import type { SprintRequest } from '../../../src/model/sprint/request.ts';
import type { Sprint, SprintEnd, SprintProgress } from '../../../src/model/sprint/sprint.ts';
import { readTeam, requestStateOf, type Team } from '../../../src/model/sprint/team.ts';
import { decideTeam, type RunState, type TeamDecision, type TeamView } from '../../../src/rules/sprint/decide-team.ts';
import { dueSlot } from '../../../src/rules/service/decide-service.ts';
import { sprintId } from '../../../src/rules/sprint/sprint-id.ts';
import { newestSlot, nextSlot } from '../../../src/text/cron.ts';

type Maps = { -readonly [K in keyof Team]: Team[K] extends ReadonlyMap<string, infer V> ? Map<string, V> : never };

const MINUTE = 60_000;
const DAY = 86_400_000;

function emptyTeam(): Maps {
  return readTeam(() => []) as Maps;
}

const request = (text: string, at = 0): SprintRequest => ({
  ...{ text, by: 'ada', at, fingerprint: text, attachments: [], joined: [] },
});

const item = (title: string, priority = 50): BacklogItem => ({
  ...{ title, kind: 'feature', acceptance: ['it works'], priority, source: 'request:r', version: 1 },
  ...{ createdAt: 0, updatedAt: 0 },
});

const sprint = (run: string): Sprint => ({
  kickoff: { milestone: 'm', text: 'm', items: [], attachments: [], by: 'ada', trigger: 'person' },
  ...{ run, base: 'c', at: 0, until: null },
});

const progress = (state: SprintProgress['state']): SprintProgress => ({ state, phase: 'TODOS', todos: [], at: 0 });

type Row = [
  name: string,
  fill: (team: Maps) => void,
  view: Partial<TeamView> & { readonly runs?: Readonly<Record<string, RunState>> },
  wanted: Partial<TeamDecision>,
];

const ROWS: readonly Row[] = [
  ['an empty team waits', () => {}, {}, { do: 'wait', why: 'no item of the backlog is pending' }],
  [
    'a request goes to the planner',
    (team) => team.request.set('r-1', request('a')),
    {},
    { do: 'plan', requests: ['r-1'] },
  ],
  [
    'at most ten requests go to one look',
    (team) => Array.from({ length: 12 }, (_, n) => team.request.set(`r-${n}`, request(`${n}`))),
    {},
    { do: 'plan', requests: Array.from({ length: 10 }, (_, n) => `r-${n}`), findings: [] },
  ],
  [
    'a cancelled request goes nowhere',
    (team) => team.request.set('r-1', { ...request('a'), cancelledAt: 1 }),
    {},
    { do: 'wait' },
  ],
  [
    'a review whose run was not recorded is submitted again',
    (team) => team.review.set('plan-1', { run: 'x', requests: ['r-1'], findings: [], at: 0 }),
    {},
    { do: 'submit-review', review: 'plan-1' },
  ],
  [
    'while one run plans, no other does, and no sprint begins',
    (team) => {
      team.review.set('plan-1', { run: 'x', requests: [], findings: [], at: 0 });
      team.request.set('r-1', request('a'));
      team.item.set('b-1', item('b'));
    },
    { runs: { x: 'open' } },
    { do: 'wait', why: 'requests are being planned' },
  ],
  [
    'a request that three runs of the planner left is left to a person',
    (team) => {
      team.request.set('r-1', request('a'));
      for (const n of [1, 2, 3]) team.review.set(`plan-${n}`, { run: `x${n}`, requests: ['r-1'], findings: [], at: 0 });
    },
    { runs: { x1: 'over', x2: 'over', x3: 'over' } },
    { do: 'wait' },
  ],
  [
    'a request that one run left goes to the next',
    (team) => {
      team.request.set('r-1', request('a'));
      team.review.set('plan-1', { run: 'x', requests: ['r-1'], findings: [], at: 0 });
    },
    { runs: { x: 'over' } },
    { do: 'plan', requests: ['r-1'] },
  ],
  [
    'a ready backlog begins a sprint',
    (team) => team.item.set('b-1', item('b')),
    {},
    { do: 'open-sprint', trigger: 'backlog' },
  ],
  [
    'unless sprints begin at slots',
    (team) => team.item.set('b-1', item('b')),
    { settings: { start: 'slots' } },
    { do: 'wait' },
  ],
  [
    'as they do when one is due',
    (team) => team.item.set('b-1', item('b')),
    { settings: { start: 'slots' }, slot: 5 },
    { do: 'open-sprint', trigger: 'slot', slot: 5 },
  ],
  ['a slot without work is skipped', () => {}, { slot: 5 }, { do: 'skip-slot', slot: 5 }],
  [
    'so is one while a sprint is active',
    (team) => {
      team.sprint.set('s', sprint('x'));
      team.progress.set('s', progress('running'));
    },
    { slot: 5, runs: { x: 'open' } },
    { do: 'skip-slot', slot: 5 },
  ],
  [
    'blocked items begin nothing',
    (team) => {
      team.item.set('b-1', item('b'));
      team.itemState.set('b-1', { state: 'blocked', at: 0 });
    },
    {},
    { do: 'wait' },
  ],
  [
    'what was carried over does',
    (team) => {
      team.item.set('b-1', item('b'));
      team.itemState.set('b-1', { state: 'carried_over', at: 0 });
    },
    {},
    { do: 'open-sprint' },
  ],
  [
    'a line that is held keeps a sprint, and its slot, waiting',
    (team) => team.item.set('b-1', item('b')),
    { held: 'a conflict', slot: 5 },
    { do: 'wait', why: 'a conflict' },
  ],
  [
    'and requests are planned meanwhile',
    (team) => team.request.set('r-1', request('a')),
    { held: 'a conflict' },
    { do: 'plan' },
  ],
  [
    'a cap of the day holds the planner',
    (team) => team.request.set('r-1', request('a')),
    { cappedUntil: 99 },
    { do: 'wait', until: 99 },
  ],
  [
    'a sprint without its run gets it',
    (team) => team.sprint.set('s', sprint('x')),
    {},
    { do: 'submit-sprint', sprint: 's' },
  ],
  [
    'one that was stopped before it got its run is closed without',
    (team) => {
      team.sprint.set('s', sprint('x'));
      team.stop.set('s', { at: 5, by: 'ada', now: false });
    },
    {},
    { do: 'close-sprint', sprint: 's' },
  ],
  [
    'one whose run is over is closed',
    (team) => team.sprint.set('s', sprint('x')),
    { runs: { x: 'over' } },
    { do: 'close-sprint' },
  ],
  [
    'while a sprint plans, its planner has the backlog for itself',
    (team) => {
      team.sprint.set('s', sprint('x'));
      team.request.set('r-1', request('a'));
    },
    { runs: { x: 'open' } },
    { do: 'wait' },
  ],
  [
    'while it works, requests are planned',
    (team) => {
      team.sprint.set('s', sprint('x'));
      team.progress.set('s', progress('running'));
      team.request.set('r-1', request('a'));
    },
    { runs: { x: 'open' } },
    { do: 'plan' },
  ],
  ...(
    [
      ['a sprint that did nothing is not tried again at once', 0, 'failed', {}, { do: 'wait' }],
      ['but at the next slot', 0, 'failed', { slot: 5 }, { do: 'open-sprint', trigger: 'slot' }],
      ['or once the backlog has changed', 20, 'failed', {}, { do: 'open-sprint', trigger: 'backlog' }],
      ['one that did something is followed by the next', 0, 'committed', {}, { do: 'open-sprint', trigger: 'backlog' }],
    ] as const
  ).map(
    ([name, updatedAt, state, view, wanted]): Row => [
      name,
      (team) => {
        team.item.set('b-1', { ...item('b'), updatedAt });
        team.itemState.set('b-1', { state: 'carried_over', at: 10 });
        team.sprint.set('s', sprint('x'));
        team.progress.set('s', { ...progress('completed'), todos: [{ id: 't', item: 'b-2', title: 't', state }] });
        team.end.set('s', { outcome: 'completed', head: 'c', at: 10 });
      },
      { now: 30, runs: { x: 'over' }, ...view },
      wanted,
    ],
  ),
  [
    'where only what was begun is finished, no request is planned',
    (team) => team.request.set('r-1', request('a')),
    { begins: 'nothing' },
    { do: 'wait' },
  ],
  [
    'where a person wants plans alone, none begins',
    (team) => team.item.set('b-1', item('b')),
    { begins: 'plans' },
    { do: 'wait' },
  ],
];

function decide(team: Team, { runs = {}, ...view }: Row[2]): TeamDecision {
  const runState = (run: string): RunState => runs[run] ?? 'absent';
  return decideTeam({ now: 10, team, settings: { start: 'hybrid' }, findings: [], runState, ...view });
}

describe('what is next for a team', () => {
  it.each(ROWS)('%s', (_, fill, view, wanted) => {
    const team = emptyTeam();
    fill(team);
    expect(decide(team, view)).toMatchObject(wanted);
  });
});

interface Played {
  readonly team: Maps;
  readonly opened: readonly { readonly at: number; readonly trigger: string }[];
  readonly skipped: readonly number[];
}

/** Two weeks in which each decision is carried out at once. Runs take their time, and end by themselves. */
function play(from: number, arrivals: readonly number[], start: 'hybrid' | 'slots', timezone: string): Played {
  const team = emptyTeam();
  const timetable = { cron: '0 9 * * *', timezone };
  const ends = new Map<string, number>();
  const to = from + 14 * DAY;
  const opened: { at: number; trigger: string }[] = [];
  const skipped: number[] = [];
  let after = from;
  let now = from;
  const runState = (run: string): RunState =>
    (ends.get(run) ?? Infinity) <= now ? 'over' : ends.has(run) ? 'open' : 'absent';
  const settle = (id: string): void => {
    const { run = '' } = team.sprint.get(id) ?? {};
    const begun = (ends.get(run) ?? 0) - 2 * 60 * MINUTE;
    if (now >= begun + 20 * MINUTE && !team.progress.has(id)) {
      team.progress.set(id, {
        ...progress('running'),
        todos: [{ id: 't', item: 'b', title: 't', state: 'committed' }],
      });
      for (const [one] of team.item) {
        const state = team.itemState.get(one)?.state ?? 'pending';
        if (state === 'pending') team.itemState.set(one, { state: 'selected', selected_in_sprint_id: id, at: now });
      }
    }
  };
  const finish = (id: string): void => {
    for (const [one, state] of team.itemState)
      if (state.state === 'selected' && state.selected_in_sprint_id === id)
        team.itemState.set(one, { state: 'done', completed_in_sprint_id: id, at: now } satisfies BacklogState);
    team.end.set(id, { outcome: 'completed', head: 'c', at: now } satisfies SprintEnd);
  };
  const step = (): TeamDecision => {
    for (const id of team.sprint.keys()) if (!team.end.has(id)) settle(id);
    for (const [, review] of team.review)
      if (runState(review.run) === 'over')
        for (const id of review.requests)
          if (!team.requestPlan.has(id)) {
            team.item.set(`b-${id}`, item(id));
            team.requestPlan.set(id, { outcome: 'planned', items: [`b-${id}`], answer: 'yes', at: now });
          }
    const slot = dueSlot({ ...timetable, after }, now);
    const decision = decideTeam({
      ...{ now, team, settings: { start }, findings: [], runState, slot },
      nextSlot: nextSlot(timetable, Math.max(after, now)),
    });
    if (decision.do === 'plan') {
      const id = `plan-${team.review.size + 1}`;
      team.review.set(id, { run: id, requests: [...decision.requests], findings: [], at: now });
    } else if (decision.do === 'submit-review') ends.set(decision.review, now + 10 * MINUTE);
    else if (decision.do === 'open-sprint') {
      const id = sprintId(now, timezone, team.sprint.keys());
      team.sprint.set(id, { ...sprint(`run ${id}`), at: now });
      opened.push({ at: now, trigger: decision.trigger });
      if (decision.slot !== undefined) after = decision.slot;
    } else if (decision.do === 'submit-sprint') ends.set(`run ${decision.sprint}`, now + 2 * 60 * MINUTE);
    else if (decision.do === 'close-sprint') finish(decision.sprint);
    else if (decision.do === 'skip-slot') {
      skipped.push(decision.slot);
      after = decision.slot;
    }
    return decision;
  };
  const waiting = [...arrivals].toSorted((a, b) => a - b);
  while (now <= to) {
    let decision = step();
    for (let left = 50; decision.do !== 'wait'; left -= 1) {
      if (left === 0) throw new Error(`it goes in circles at ${decision.do}`);
      decision = step();
    }
    const moments = [...ends.values(), ...[...ends.values()].map((end) => end - 100 * MINUTE), waiting[0] ?? Infinity];
    now = Math.min(decision.until ?? Infinity, ...moments.filter((moment) => moment > now), to + 1);
    while (waiting[0] !== undefined && waiting[0] <= now) {
      const at = waiting.shift() ?? 0;
      team.request.set(`r-${team.request.size}`, request(`${at}`, at));
    }
  }
  return { team, opened, skipped };
}

/** Around a change of the clock in Berlin. */
const FROM = Date.parse('2026-10-18T00:00:00Z');

describe('two weeks of a simulated clock', () => {
  test.prop(
    [
      fc.array(fc.integer({ min: 0, max: 13 * 24 * 60 }), { maxLength: 40 }),
      fc.constantFrom('hybrid' as const, 'slots' as const),
      fc.constantFrom('Europe/Berlin', 'Asia/Seoul'),
    ],
    { numRuns: 60 },
  )('sprints only where there is work, none twice, and no request is lost', (minutes, start, timezone) => {
    const { team, opened, skipped } = play(
      FROM,
      minutes.map((minute) => FROM + minute * MINUTE),
      start,
      timezone,
    );
    const states = [...team.request.keys()].map((id) => requestStateOf(team, id, () => true));
    // The last day is there for what came before.
    expect(states.filter((state) => state !== 'done')).toEqual([]);
    expect(new Set([...team.requestPlan.values()].flatMap(({ items }) => items)).size).toBe(team.request.size);
    // Each sprint had an item that no other had.
    const selected = [...team.itemState.values()].map(({ completed_in_sprint_id: id }) => id);
    expect([...team.sprint.keys()].filter((id) => !selected.includes(id))).toEqual([]);
    expect(opened.length).toBeLessThanOrEqual(team.request.size);
    const slots = slotsOf(timezone);
    const atSlots = opened.filter(({ trigger }) => trigger === 'slot').length;
    expect(new Set(skipped).size).toBe(skipped.length);
    expect(atSlots + skipped.length).toBe(slots.length);
    // Each at its slot, or as soon as what came just before it is planned.
    if (start === 'slots') expect(opened.filter(({ trigger }) => trigger !== 'slot')).toEqual([]);
  });
});

function slotsOf(timezone: string): number[] {
  const slots: number[] = [];
  const timetable = { cron: '0 9 * * *', timezone };
  const newest = newestSlot(timetable, FROM, FROM + 14 * DAY) ?? FROM;
  for (let slot = nextSlot(timetable, FROM); slot !== undefined && slot <= newest; slot = nextSlot(timetable, slot))
    slots.push(slot);
  return slots;
}
