import type { StateSnapshot } from '@langchain/langgraph';
import { summaryOf } from '../graph/nodes/node-context.ts';
import type { SquadStateValue } from '../graph/state.ts';
import type { Attempt } from '../model/attempt.ts';
import type { AskedQuestion } from '../model/plan/asked-question.ts';
import { phaseOf, type RunState } from '../model/run-state.ts';
import type { RunReading } from '../view/read-run.ts';
import type { RunView } from '../view/run-view.ts';
import { plainText } from '../text/plain-text.ts';
import type { ThreadStanding } from './read-thread.ts';

/** Where a person is asked. */
const ASKING = 'ask_human';

type Task = StateSnapshot['tasks'][number];

/** The state of a run without a checkpoint, from its ledger: as `squad resume` would make it. */
export function rebuiltValues(
  reading: RunReading,
  inputRef: number,
  live: readonly Attempt[],
  { run, use, end }: RunView,
): SquadStateValue {
  const { row, board } = reading;
  return {
    runId: run.runId,
    inputRef,
    options: { parallel: use.limits.parallel },
    phase: phaseIn(run.state),
    cursor: row.applied,
    inflight: Object.fromEntries(live.map(({ id, taskId }) => [id, taskId])),
    starts: [],
    batch: [],
    result: end && { outcome: end.outcome, why: end.why },
    ...(summaryOf(board) as Pick<SquadStateValue, 'board' | 'counts' | 'questions'>),
  };
}

/** As `squad status` says it: a checkpoint keeps the phase in which it was written. */
function phaseIn(state: RunState): SquadStateValue['phase'] {
  const phase = phaseOf(state);
  return phase === 'preparing' || phase === 'queued' ? 'new' : phase;
}

/**
 * The newest state with the phase, the questions and the conversation of now. While nothing else can move, they are an interrupt, whether the graph
 * stands at one or an engine waits with a person at its terminal.
 */
export function withStanding(
  snapshot: StateSnapshot,
  { view: { run, waits }, open, messages }: ThreadStanding,
): StateSnapshot {
  const values = { ...(snapshot.values as object), phase: phaseIn(run.state), questions: open, messages };
  if (waits.waitingFor?.for !== 'answer')
    return { ...snapshot, values, tasks: snapshot.tasks.map((task) => ({ ...task, interrupts: [] })) };
  const [first = NO_TASK, ...rest] = snapshot.tasks;
  const tasks = [{ ...first, interrupts: [interruptOf(first, open)] }, ...rest];
  return { ...snapshot, values, tasks, next: tasks.map(({ name }) => name) };
}

const NO_TASK: Task = { id: ASKING, name: ASKING, interrupts: [] };

/** With the id of the graph's own, if it stands at one. */
function interruptOf({ id, interrupts }: Task, questions: readonly AskedQuestion[]): Task['interrupts'][number] {
  return { ...interrupts[0], id: interrupts[0]?.id ?? id, value: { questions } };
}

/** Texts of agents and people, safe for the page that shows them. */
export function plainValue<T>(value: T): T {
  if (typeof value === 'string') return plainText(value) as T;
  if (Array.isArray(value)) return value.map(plainValue) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item)])) as T;
}
