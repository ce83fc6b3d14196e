import { describe, expect, it } from 'vitest';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { takeEvent, type BoardView } from '../../../src/cli/board/view.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import { recordedRun, viewAfter } from './recorded-run.ts';

process.env['TZ'] = 'UTC';

const events = recordedRun();
const base = { at: events.at(-1)?.at ?? 0, runId: 'r' };
const middle = viewAfter(
  events.slice(
    0,
    events.findIndex(({ type }) => type === 'question-answered'),
  ),
  1_000,
);

function after(view: BoardView, ...more: readonly RunEvent[]): BoardView {
  return { ...view, state: more.reduce(takeEvent, view.state) };
}

/** Without colour. */
function screen(view: BoardView, columns = 100, rows = 30): string {
  return renderFrame(view, { columns, rows, colour: false }).join('\n');
}

const failed = { type: 'task-changed', ...base, title: 'T', role: 'builder', status: 'failed', round: 1 } as const;
const stopped: RunEvent = {
  ...{ type: 'run-ended', ...base, name: 'sign-in', outcome: 'stopped', headline: 'STOPPED, USD 10.20 of 10.00 used' },
  ...{ why: '', exitCode: 4, branch: 'squad/sign-in', report: '', failures: [], rejections: [], questions: [] },
  next: ['squad resume sign-in --max-usd 20'],
};

it('names keys whole, and those that lead out of it always', () => {
  const foot = (columns: number): string | undefined => screen(middle, columns).split('\n').at(-1);
  expect(foot(61)).toBe('↑↓ scroll  1-6 transcript  a answer  p pause  d drain  q quit');
  expect(foot(60)).toBe('↑↓ scroll  1-6 transcript  a answer  d drain  q quit');
  expect(foot(40)).toBe('↑↓ scroll  a answer  d drain  q quit');
  expect(foot(35)).toBe('↑↓ scroll  d drain  q quit');
});

describe('what waits for a person comes first', () => {
  it.each<[string, readonly RunEvent[], RegExp]>([
    [
      'a question',
      [],
      /\? builder-1 asks: How long .*\n(?: {2}.*\n)* {2}→ squad answer mail\/1 "…" --run sign-in\n─ Tasks/,
    ],
    [
      'a question with options',
      [
        {
          type: 'question-asked',
          ...base,
          question: 'engine/x',
          text: 'Which?',
          options: ['try again', 'no'],
          tasks: [],
        },
      ],
      /\? Which\? {2}\[try again \| no\]\n {2}→ squad answer engine\/x 'try again' --run sign-in\n/,
    ],
    [
      'a pause of the run',
      [{ type: 'pause-changed', ...base, scope: 'run', verb: 'pause', by: 'ada' }],
      /‖ the run is paused by ada\n {2}→ squad resume sign-in\n/,
    ],
    [
      'a pause of an agent',
      [{ type: 'pause-changed', ...base, scope: 'agent/writer', verb: 'pause', by: 'ada' }],
      /‖ agent writer is paused by ada\n {2}→ squad resume sign-in --agent writer\n/,
    ],
    [
      'a task that failed',
      [{ ...failed, task: 'schema', why: 'rejected in round 4 of 4' }],
      /✗ schema failed: rejected in round 4 of 4\n {2}→ squad retry schema --run sign-in\n/,
    ],
    [
      'a limit that was reached, with the command that raises it',
      [stopped],
      /■ stopped.*\n(?:.*\n)*■ STOPPED, USD 10\.20 of 10\.00 used\n {2}→ squad resume sign-in --max-usd 20\n/,
    ],
  ])('%s', (_what, more, shown) => {
    expect(screen(after(middle, ...more))).toMatch(shown);
  });

  it('names no retry for a failed task of a sprint that is over', () => {
    const begun = { ...base, name: 'sign-in', resumed: false, base: 'b', agents: [] };
    const sprint = after(
      middle,
      { type: 'run-started', ...begun, playbook: 'sprint' },
      { ...failed, task: 'schema', why: 'rejected' },
    );
    expect(screen(sprint)).toContain('squad retry schema');
    const over = screen(after(sprint, { ...stopped, outcome: 'failed', headline: 'FAILED' }));
    expect(over).toContain('schema failed: rejected');
    expect(over).not.toContain('squad retry');
  });

  it('and is gone once it is answered, resumed or done', () => {
    const calm = after(
      middle,
      { type: 'question-answered', ...base, question: 'mail/1', answer: 'yes' },
      { type: 'pause-changed', ...base, scope: 'run', verb: 'pause', by: 'ada' },
      { type: 'pause-changed', ...base, scope: 'run', verb: null },
    );
    expect(screen(calm)).toMatch(/ turns\n─ Tasks/);
  });

  it.each(['task', 'stage'] as const)(
    'such as the %s whose plan waits for approval, which is not done before',
    (kind) => {
      const made: RunEvent =
        kind === 'task'
          ? { ...failed, task: 'plan', status: 'done' }
          : {
              ...{ type: 'stage-changed', ...base, place: 1, of: 1, change: 'state' },
              stage: { id: 'PLAN', title: 'plan', state: 'done', by: ['ada'], tasks: ['plan'] },
            };
      const asks = { question: 'plan-1', text: 'Approve the plan?', options: ['approve', 'stop'], tasks: ['plan'] };
      const asked = after(middle, made, { type: 'question-asked', ...base, ...asks });
      const isDone = /✓ plan\b/;
      expect(screen(asked)).toMatch(kind === 'task' ? /1 to approve, [^]*^\? plan\b/m : /\? plan\b/);
      expect(screen(asked)).not.toMatch(isDone);
      const answered = after(asked, { type: 'question-answered', ...base, question: 'plan-1', answer: 'approve' });
      expect(screen(answered)).toMatch(isDone);
    },
  );

  it('keeps one line for each where there is little room, and counts the others', () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ ...failed, task: `t${index}`, why: 'no' }) as const);
    const lines = screen(after(middle, ...many), 80, 16).split('\n');
    expect(lines.filter((line) => /^[?✗] /.test(line)).length).toBeGreaterThan(1);
    expect(lines.join('\n')).toMatch(/^ {2}and \d+ more$/m);
  });
});

describe('the head', () => {
  const usage = { inputTokens: null, outputTokens: null, costUsd: null, unknownTurns: 3, unknownCostTurns: 3 };
  const progress = { ...middle.progress, usage } as BoardView['progress'];

  it('says what is unknown', () => {
    expect(screen({ ...middle, progress })).toContain('USD unknown of 10.00 · unknown of 5M tokens');
  });

  it('says which sums are known in part only', () => {
    expect(screen(middle)).toMatch(/USD [\d.]+\+ of 10\.00 · \d+k\+ of 5M tokens/);
  });

  it('follows limits that are raised', () => {
    const limits = { ...middle.state.run.limits!, usd: 40, minutes: 600 };
    const raised = screen(after(middle, { type: 'limits-changed', ...base, limits }));
    expect(raised).toMatch(/of 10h00m, .* left/);
    expect(raised).toContain('of 40.00');
  });

  it('says the deadline, and when it has passed', () => {
    const { now, state } = middle;
    const due = (deadline: number, isPastDeadline = false): string =>
      screen({ ...middle, state: { ...state, run: { ...state.run, deadline, isPastDeadline } } });
    expect(screen(middle)).not.toContain('deadline');
    expect(due(now + 60_000)).toMatch(/left · deadline \d\d:\d\d ·/);
    expect(due(now)).toMatch(/deadline \d\d:\d\d passed ·/);
    expect(due(now, true)).toMatch(/deadline \d\d:\d\d passed, works on ·/);
    const said = { type: 'intervened', ...base, verb: 'past-deadline', by: 'ada' } as const;
    expect(after(middle, said).state.run.isPastDeadline).toBe(true);
  });

  it('counts each second', () => {
    const at = (elapsedMs: number): string => screen({ ...middle, progress: { ...middle.progress!, elapsedMs } });
    expect(at(61_000)).toContain('1m01s of 4h00m, 3h58m left');
    expect(at(62_000)).toContain('1m02s of 4h00m');
  });
});

describe('the history', () => {
  const last = (view: BoardView): string[] => screen(view).split('\n').slice(-4, -1);

  it('is scrolled back, and stops at the oldest', () => {
    expect(last({ ...middle, scrolled: 3 })).not.toEqual(last(middle));
    expect(screen({ ...middle, scrolled: 3 })).toContain('─ Activity · 3 newer below ─');
    expect(screen({ ...middle, scrolled: 900 })).toMatch(/squad +started sign-in: branch squad\/sign-in from /);
    expect(screen({ ...middle, scrolled: 900 })).toEqual(screen({ ...middle, scrolled: 950 }));
  });

  it('is the transcript of an agent if that is open', () => {
    const shown = screen({ ...middle, open: 'builder-1' });
    expect(shown).toContain('─ Transcript of builder-1 ─');
    expect(shown).toContain('> write src/error-page.tsx');
    expect(shown).toMatch(/─ error-page-1 started/);
    expect(shown).toMatch(/─ error-page-1 completed after \d+m\d\ds/);
    expect(shown).not.toContain('mail/reset.html\n09');
  });
});

describe('a view that is opened late', () => {
  /** What the ledger does not have. */
  const live = ['session-announced', 'text', 'thinking', 'tool-started', 'tool-ended', 'run-started', 'run-ended'];

  it('shows all but the live output', () => {
    const late = viewAfter(
      events.filter(({ type }) => !live.includes(type)),
      1_000,
    );
    const whole = viewAfter(events, 1_000);
    const part = (view: BoardView) => ({
      ...view.state,
      activity: [],
      agents: [...view.state.agents.keys()],
      ended: null,
    });
    expect(part(late)).toEqual(part(whole));
  });
});

describe('200 tasks', () => {
  const statuses = ['done', 'waiting', 'ready', 'live', 'reviewing'] as const;
  const tasks = Array.from({ length: 200 }, (_, index): RunEvent => {
    const status = index === 150 ? 'failed' : statuses[index % 5]!;
    return { type: 'task-changed', ...base, task: `task-${index}`, title: 'A task', role: 'builder', status, round: 1 };
  });
  const many = after(middle, ...tasks);

  it('are counted, and those that matter are shown', () => {
    const shown = screen(many, 80, 24);
    expect(shown).toMatch(/Tasks · \d+ of 210: 1 asking, 1 failed, \d+ in work/);
    expect(shown).toContain('✗ task-150');
  });

  it('are all shown where there is room', () => {
    expect(screen(many, 200, 60).match(/task-\d+/g)?.length).toBeGreaterThanOrEqual(200);
  });
});

it('fills the terminal as far as there is something to show', () => {
  for (const rows of [24, 40, 60, 90]) expect(screen(middle, 100, rows).split('\n')).toHaveLength(rows);
});
