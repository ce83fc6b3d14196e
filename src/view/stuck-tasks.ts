import { decideFrontier } from '../rules/frontier.ts';
import { agentRequests } from '../rules/work-requests.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { predictBoard } from './replay-plan.ts';
import type { RunReading } from './read-run.ts';
import { endsAtDeadline } from './run-state.ts';
import { isAtLimit, resumeCommand } from './next-commands.ts';

/** Work that has not ended and cannot continue, or not soon, unless a person does something. */
export interface StuckTask {
  /** null: it holds the whole run. */
  readonly task: string | null;
  readonly why: string;
  /** Commands that act on it, the most likely first. */
  readonly next: readonly string[];
}

/** A limit or the deadline of the run first, then open questions, pauses, and tasks that wait for a time or an agent. None of a finished run. */
export function stuckTasksOf(reading: RunReading, now: number): StuckTask[] {
  const board = predictBoard(reading.board, reading.pendingRequests);
  if (board.finished !== null) return [];
  const { name } = reading.row;
  const held = [...board.pauses].map(([scope, { verb, by }]): StuckTask => {
    const verbs = { pause: 'paused', drain: 'drained', stop: 'stopped' } as const;
    const [kind, of] = scope.split('/', 2);
    const on = scope === WHOLE_RUN ? '' : ` --${kind} ${shellWord(plainLine(of ?? ''))}`;
    const why = `${kind === 'agent' ? `agent ${of}` : 'it'} is ${verbs[verb]} by ${by}`;
    return { task: kind === 'task' ? (of ?? null) : null, why, next: [`squad resume ${name}${on}`] };
  });
  // The pauses are listed already, and what waits for other work continues by itself.
  const { waiting, unstaffed } = decideFrontier({ ...board, now: Math.max(now, board.now) }, Infinity);
  const timed = waiting.filter(({ until, paused }) => until !== null && paused !== true);
  const parked = [...timed, ...unstaffed].map(({ task, why }): StuckTask => {
    return { task, why, next: [...waysOn(reading, task), `squad skip ${task} --run ${name} --reason "…"`] };
  });
  const seen = new Set<string>();
  return [...atLimit(reading, now), ...askedBy(reading), ...held, ...parked].filter(({ task, why }) => {
    const key = JSON.stringify([task, why]);
    return !seen.has(key) && seen.add(key);
  });
}

function atLimit(reading: RunReading, now: number): StuckTask[] {
  const { decided, driven } = reading;
  const reached = driven || !isAtLimit(reading) ? undefined : decided?.why;
  const why = endsAtDeadline(reading, now) ?? reached;
  return why === undefined ? [] : [{ task: null, why, next: [resumeCommand(reading, now)] }];
}

/** For each question without an answer, the tasks that it blocks. */
function askedBy({ row: { name }, board, questions }: RunReading): StuckTask[] {
  return questions
    .filter(({ recorded }) => recorded === null)
    .flatMap(({ id, text, options: [first] }) => {
      const blocks = board.questions.get(id)?.blocks ?? 'run';
      const answer = first === undefined ? '"…"' : shellWord(plainLine(first));
      const next = [`squad answer ${shellWord(plainLine(id))} ${answer} --run ${name}`];
      const tasks = blocks === 'run' || blocks.length === 0 ? [null] : blocks;
      return tasks.map((task) => ({ task, why: `asks: ${plainLine(text, 300)}`, next }));
    });
}

/** To try at once what only waits for its next try, and another agent: the run's runtimes that no agent of its role has. */
function waysOn({ row: { name }, board, definition }: RunReading, task: string): string[] {
  const state = board.tasks.get(task);
  if (state === undefined) return [];
  const isPut = agentRequests(state.work).some(({ request }) => request.state.at === 'waiting');
  const own = definition.agents.filter(({ role }) => role === state.task.role).map(({ runtime }) => runtime);
  const others = [...new Set(definition.agents.map(({ runtime }) => runtime))].filter((one) => !own.includes(one));
  return [
    ...(isPut ? [`squad retry ${task} --run ${name}`] : []),
    ...others.map((runtime) => `squad switch ${runtime} --task ${task} --run ${name}`),
  ];
}
