import stringWidth from 'string-width';
import { EMPTY_BOARD } from '../src/cli/board/board-state.ts';
import { renderFrame } from '../src/cli/board/frame.ts';
import { takeEvent, type BoardView } from '../src/cli/board/view.ts';
import { TASK_STATUSES } from '../src/model/plan/task.ts';
import type { RunEvent } from '../src/model/run-event.ts';
import { median, rowOf, type Bench, type Row } from './shared/row.ts';

const TASKS = 200;
const MANY_TASKS = 2_000;
const AGENTS = 6;
const TOOLS = 2_000;
const TRIES = 200;
const MOST_MS = 5;

const SIZES = [
  [80, 24],
  [200, 60],
  [250, 200],
] as const;

/** A frame of a run with 200 tasks, a third of them with wide titles, beside the widths of its lines alone. */
export const frame: Bench = {
  name: 'frame',
  run: () => {
    const view = wholeView();
    return Promise.resolve([...SIZES.map(([columns, rows]) => measure(view, columns, rows)), measureEvents()]);
  },
};

function measure(view: BoardView, columns: number, rows: number): Row {
  const size = { columns, rows, colour: true };
  let lines: readonly string[] = [];
  // Each frame has another time, as on a terminal.
  const squad = medianMs((index) => (lines = renderFrame({ ...view, now: view.now + index * 1_000 }, size)));
  const bare = medianMs(() => lines.map((line) => stringWidth(line)));
  return rowOf(`frame of ${TASKS} tasks at ${columns}×${rows}, beside the widths of its lines`, 'ms', squad, bare, {
    target: { of: 'squad', most: MOST_MS },
    note: `${lines.length} lines`,
  });
}

/** What a board pays for one change of a task, when there are many and when there are few. */
function measureEvents(): Row {
  const [many, few] = [eventUs(MANY_TASKS), eventUs(TASKS)];
  return rowOf(`a change of one of ${MANY_TASKS} tasks, beside one of ${TASKS}`, 'µs', many, few);
}

function eventUs(tasks: number): number {
  const events = Array.from({ length: 5 * tasks }, (_, index): RunEvent => {
    const status = TASK_STATUSES[Math.floor(index / tasks)] ?? 'waiting';
    const of = { task: `task-${index % tasks}`, title: 'Build the form', role: 'builder', status, round: 1 };
    return { type: 'task-changed', at: 1, runId: 'r', ...of };
  });
  const times = Array.from({ length: 5 }, () => {
    const from = performance.now();
    events.reduce(takeEvent, EMPTY_BOARD);
    return ((performance.now() - from) * 1_000) / events.length;
  });
  return median(times);
}

function medianMs(work: (index: number) => unknown): number {
  const times = Array.from({ length: TRIES }, (_, index) => {
    const from = performance.now();
    work(index);
    return performance.now() - from;
  });
  return median(times);
}

function wholeView(): BoardView {
  const base = { at: 1, runId: 'r' };
  const agents = Array.from({ length: AGENTS }, (_, index) => `builder-${index + 1}`);
  const turn = (index: number) => {
    const agent = agents[index % AGENTS] ?? '';
    return { ...base, attemptId: `a-${agent}`, task: `task-${index % TASKS}`, agent };
  };
  const events: RunEvent[] = [
    {
      ...{ type: 'run-started', ...base, name: 'run', resumed: false, playbook: 'objective', branch: 'b', base: 'c' },
      agents: agents.map((name) => ({ name, role: 'builder', runtime: 'claude', model: 'opus' })),
    },
    ...Array.from({ length: TASKS }, (_, index): RunEvent => {
      const title =
        index % 3 === 0 ? '登录页面和它的错误信息 '.repeat(3) : 'Build the form and its messages '.repeat(3);
      const status = TASK_STATUSES[index % TASK_STATUSES.length] ?? 'waiting';
      return { type: 'task-changed', ...base, task: `task-${index}`, title, role: 'builder', status, round: 1 };
    }),
    ...agents.map((_, index): RunEvent => {
      return { type: 'attempt-taken', ...turn(index), kind: 'turn', runtime: 'claude', how: 'started' };
    }),
    ...Array.from({ length: TOOLS }, (_, index): RunEvent => {
      const text = index % 3 === 0 ? '看一下错误信息。' : 'I look at the messages first, and then at the form.';
      return { type: 'text', ...turn(index), text, delta: false };
    }),
    { type: 'question-asked', ...base, question: 'q', text: 'Which of the two? '.repeat(9), options: [], tasks: [] },
  ];
  const state = events.reduce(takeEvent, EMPTY_BOARD);
  return { state, now: 60_000, progress: undefined, open: undefined, scrolled: 0, keys: [], notice: undefined };
}
