import type { TaskFailure } from '../../model/task-failure.ts';
import type { Prompts } from './prompts.ts';

/** Choices for a task that failed. Each is also a command; after `show` the person is asked again. */
export type Way =
  | { readonly way: 'retry'; readonly options: { fresh?: boolean; note?: string; agent?: string; runtime?: string } }
  | { readonly way: 'skip' | 'override'; readonly why: string }
  | { readonly way: 'show' };

const WAYS = [
  { value: 'continue', label: 'Continue its session' },
  { value: 'note', label: 'Continue its session, with a note to the agent' },
  { value: 'fresh', label: 'Start a new session', hint: 'the work so far stays under refs/squad' },
  { value: 'agent', label: 'Give it to another agent' },
  { value: 'runtime', label: 'Use another runtime' },
  { value: 'skip', label: 'Skip it', hint: 'tasks that need it start without it' },
  { value: 'override', label: 'Take it as done', hint: 'the checks still run' },
  { value: 'show', label: 'Show its transcript' },
  { value: 'nothing', label: 'Change nothing' },
] as const;

/** The only one, or the one that the person chooses. undefined: none. */
export async function chooseTask(prompts: Prompts, failures: readonly TaskFailure[]): Promise<TaskFailure | undefined> {
  if (failures.length < 2) return failures[0];
  const choices = failures.map(({ task, as, why }) => ({ value: task, label: `${task} (${as})`, hint: why }));
  const chosen = await prompts.choose('Which task?', choices, never());
  return failures.find(({ task }) => task === chosen);
}

/** undefined: the person changes nothing. */
export async function chooseWay(
  prompts: Prompts,
  { task }: Pick<TaskFailure, 'task'>,
  {
    runtimes,
    agents,
    isAnswer,
  }: {
    readonly runtimes: readonly string[];
    readonly agents: readonly string[];
    /** Other tasks are made of what it answers, so that nothing can take its place. */
    readonly isAnswer: boolean;
  },
): Promise<Way | undefined> {
  const without = [...(agents.length > 0 ? [] : ['agent']), ...(isAnswer ? ['skip', 'override'] : [])];
  const ways = WAYS.filter(({ value }) => !without.includes(value));
  const way = await prompts.choose(`What should happen with ${task}?`, ways, never());
  switch (way) {
    case 'show':
      return { way };
    case 'continue':
      return { way: 'retry', options: {} };
    case 'fresh':
      return { way: 'retry', options: { fresh: true } };
    case 'note': {
      const note = await prompts.write('What should the agent know?', never());
      return note === undefined ? undefined : { way: 'retry', options: { note } };
    }
    case 'agent': {
      const choices = agents.map((value) => ({ value, label: value }));
      const agent = await prompts.choose('Which agent?', choices, never());
      return agent === undefined ? undefined : { way: 'retry', options: { agent } };
    }
    case 'runtime': {
      const choices = runtimes.map((value) => ({ value, label: value }));
      const runtime = await prompts.choose('Which runtime?', choices, never());
      return runtime === undefined ? undefined : { way: 'retry', options: { runtime } };
    }
    case 'skip':
    case 'override': {
      const why = await prompts.write('Why? The report says it.', never());
      return why === undefined ? undefined : { way, why };
    }
    case 'nothing':
    case undefined:
      return undefined;
    default:
      return way satisfies never;
  }
}

/** Nothing but the person ends a prompt here. */
function never(): AbortSignal {
  return new AbortController().signal;
}
