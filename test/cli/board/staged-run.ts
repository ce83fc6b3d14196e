import { limitsSchema } from '../../../src/model/limits.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import type { ShownStage } from '../../../src/model/shown-stage.ts';
import type { RunProgress } from '../../../src/read-model/usage-count.ts';
import { EMPTY_BOARD } from '../../../src/cli/board/board-state.ts';
import { takeEvent, type BoardView } from '../../../src/cli/board/view.ts';

const RUN = 'sign-in';
const BEGAN = Date.UTC(2026, 2, 14, 9, 30);
const base = (at: number) => ({ at, runId: RUN });

const AGENTS = [
  { name: 'pm', role: 'pm', runtime: 'claude', model: 'opus', account: 'claude' },
  { name: 'ba', role: 'ba', runtime: 'claude', model: 'opus', account: 'claude' },
  { name: 'writer', role: 'writer', runtime: 'claude', model: 'sonnet', account: 'claude' },
  { name: 'builder-1', role: 'builder', runtime: 'claude', model: 'opus', account: 'claude' },
  { name: 'builder-2', role: 'builder', runtime: 'codex', model: 'gpt-5-codex', account: 'codex' },
  { name: 'reviewer', role: 'reviewer', runtime: 'codex', model: 'gpt-5-codex', account: 'codex' },
];

/** Who works in it, and for how many minutes. A review's rounds. */
const STAGES: readonly (readonly [id: string, by: readonly string[], took: number, rounds?: number])[] = [
  ['SETUP', ['pm'], 2],
  ['BUSINESS_PROBLEM', ['ba'], 6],
  ['SPEC', ['ba'], 11],
  ['SPEC_REVIEW', ['reviewer', 'pm'], 9, 2],
  ['RESEARCH', ['builder-1'], 7],
  ['TEST_STRATEGY', ['builder-1'], 5],
  ['PLAN', ['pm'], 8],
  ['PLAN_REVIEW', ['reviewer'], 4, 1],
  ['IMPLEMENTATION', ['builder-1', 'builder-2'], 48],
  ['IMPLEMENTATION_REVIEW', ['reviewer'], 12, 2],
  ['TEST', ['squad'], 3],
  ['POST_REVIEW', ['pm', 'reviewer'], 9, 2],
  ['COMPLETE', ['pm'], 2],
];

function stage(index: number, state: ShownStage['state'], startedAt: number): ShownStage {
  const [id = '', by = [], took = 0, rounds] = STAGES[index] ?? [];
  const title = id
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join(' ');
  const own = { id, title, state, tasks: id === 'IMPLEMENTATION' ? PIECES.map((piece) => piece.id) : [taskOf(id)] };
  if (state === 'waiting') return { ...own, by: [], ...(rounds === undefined ? {} : { round: { taken: 0, cap: 4 } }) };
  const round = rounds === undefined ? {} : { round: { taken: rounds, cap: 4 } };
  return {
    ...own,
    by: [...by],
    ...round,
    startedAt,
    ...(state === 'done' ? { endedAt: startedAt + took * 60_000 } : {}),
  };
}

function taskOf(id: string): string {
  return id.replace('_REVIEW', '').toLowerCase().replaceAll('_', '-').replace('post', 'post-review');
}

const PIECES = [
  { id: 'implementation-tables', title: 'Add the tables users and sessions', status: 'done' },
  { id: 'implementation-login', title: 'Check passwords and start sessions', status: 'live' },
  { id: 'implementation-form', title: 'Build the sign-in form', status: 'live' },
  { id: 'implementation-reset', title: 'Reset a password by a link that works once', status: 'waiting' },
] as const;

type Doing = readonly [agent: string, task: string, text: string];
const DOING: Readonly<Record<number, readonly Doing[]>> = {
  3: [['ba', 'spec', 'Write docs/squad/sign-in/spec.md']],
  9: [
    ['builder-1', 'implementation-login', 'Edit src/login.ts'],
    ['builder-2', 'implementation-form', 'npm test -- login-form'],
  ],
  12: [
    ['pm', 'post-review', 'Read docs/squad/sign-in/spec.md'],
    ['reviewer', 'post-review', 'git diff main...squad/sign-in'],
  ],
};

/** An objective that thirteen stages take to its end, three minutes after one of them has begun. */
export function stagedRun(place: 3 | 9 | 12): RunEvent[] {
  const events: RunEvent[] = [
    {
      ...{
        type: 'run-defined',
        ...base(BEGAN),
        name: RUN,
        title: 'Let people sign in with a password',
        playbook: 'objective',
      },
      agents: AGENTS,
      limits: limitsSchema.parse({ minutes: 480, usd: 20, tokens: 5_000_000, turns: 200 }),
    },
    ...STAGES.flatMap(([id]): RunEvent[] => {
      const task = taskOf(id);
      if (id.endsWith('_REVIEW') && id !== 'POST_REVIEW') return [];
      return [{ type: 'task-changed', ...base(BEGAN), task, title: task, role: 'pm', status: 'waiting', round: 1 }];
    }),
    ...STAGES.map((_, index) => changed(index, 'waiting', BEGAN)),
  ];
  let at = BEGAN;
  for (const [index, [id, by, took, rounds]] of STAGES.slice(0, place - 1).entries()) {
    events.push(changed(index, 'live', at), ...worked(at, id, by, took));
    if (rounds !== undefined)
      for (let round = 1; round <= rounds; round += 1)
        events.push({
          ...{ type: 'review-round', ...base(at + round * 60_000), task: taskOf(id), round, commit: 'c' },
          ...{
            approved: round === rounds,
            feedback: round === rounds ? '' : `${taskOf(id)}.md:12 names no test for the second criterion`,
          },
        });
    at += took * 60_000;
    events.push(changed(index, 'done', at - took * 60_000));
  }
  events.push(changed(place - 1, 'live', at));
  if (place === 9) events.push(...pieces(at));
  for (const [agent, task, text] of DOING[place] ?? []) {
    const attempt = { attemptId: `${RUN}.${task}-${agent}`, task, agent };
    events.push({
      type: 'attempt-taken',
      ...base(at + 5_000),
      ...attempt,
      kind: 'turn',
      runtime: 'claude',
      how: 'started',
    });
    const [tool = '', ...target] = text.split(' ');
    events.push({
      ...{ type: 'tool-started', ...base(at + 120_000), ...attempt, id: `t-${agent}`, tool, kind: 'edit' },
      input: { command: target.join(' ') },
    });
  }
  return events;
}

function changed(index: number, state: ShownStage['state'], at: number): RunEvent {
  const shown = stage(index, state, at);
  return {
    type: 'stage-changed',
    ...base(shown.endedAt ?? at),
    stage: shown,
    place: index + 1,
    of: STAGES.length,
    change: 'state',
  };
}

function pieces(at: number): RunEvent[] {
  return PIECES.map(({ id: task, title, status }) => ({
    type: 'task-changed',
    ...base(at),
    task,
    title,
    role: 'builder',
    status,
    round: 1,
  }));
}

function worked(at: number, id: string, by: readonly string[], took: number): RunEvent[] {
  const task = taskOf(id);
  return by.flatMap((agent): RunEvent[] => {
    if (agent === 'squad') return [];
    const attempt = { attemptId: `${RUN}.${task}-${agent}`, task, agent };
    const ended = { kind: 'turn', outcome: 'completed', durationMs: took * 60_000 } as const;
    return [
      { type: 'attempt-taken', ...base(at), ...attempt, kind: 'turn', runtime: 'claude', how: 'started' },
      { type: 'attempt-ended', ...base(at + took * 60_000), ...attempt, ...ended },
    ];
  });
}

export function stagedView(events: readonly RunEvent[]): BoardView {
  const now = (events.at(-1)?.at ?? BEGAN) + 61_000;
  const started = events.filter(({ type }) => type === 'attempt-taken').length;
  const settled = events.filter(({ type }) => type === 'attempt-ended').length;
  const progress: RunProgress = {
    ...{ tasks: { all: 14, ended: settled }, elapsedMs: now - BEGAN },
    turns: { started, settled, lost: 0, live: started - settled },
    usage: { inputTokens: 310_000, outputTokens: 42_000, costUsd: 3.2, unknownTurns: 0, unknownCostTurns: 4 },
  };
  return {
    ...{ state: events.reduce(takeEvent, EMPTY_BOARD), now, progress },
    ...{ open: undefined, scrolled: 0, notice: undefined },
    keys: [
      { key: '↑↓', does: 'scroll' },
      { key: 'tab', does: 'transcripts' },
      { key: 'p', does: 'pause' },
      { key: 'd', does: 'drain' },
      { key: 'q', does: 'leave' },
      { key: 'Ctrl-C', does: 'stop, state saved' },
    ],
  };
}
