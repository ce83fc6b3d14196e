import { authorAttempts } from '../graph/decisions/work-status.ts';
import type { TaskState } from '../model/plan/board.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { block, code, inline } from './markdown.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** For each task that was not delivered: the reason, the evidence, its work, the next command and all its feedback. */
export function failuresSection({ board }: RunReading, failures: readonly TaskFailure[]): string | undefined {
  const sections = failures.flatMap((failure) => {
    const state = board.tasks.get(failure.task);
    return state === undefined ? [] : [failureOf(state, failure)];
  });
  return sections.length === 0 ? undefined : ['## Not delivered', ...sections].join('\n\n');
}

function failureOf({ task, work }: TaskState, failure: TaskFailure): string {
  const { as, cause } = failure;
  const { phase } = work;
  const attempts = authorAttempts(work);
  const rounds = `round ${work.round}, ${attempts} attempt${attempts === 1 ? '' : 's'}`;
  const why = phase.at === 'ended' ? phase.why.trim() : '';
  // The last feedback is often the reason itself.
  const told = work.feedback.map(
    (text, index) => `Feedback ${index + 1} of ${work.feedback.length}:\n\n${block(text)}`,
  );
  return [
    `### ${code(task.id)}: ${inline(task.title, 80)}`,
    `${as === 'failed' ? 'Failed' : 'Cancelled'}${cause === null || cause === as ? '' : ` (${cause})`} in ${rounds}: ${inline(why)}`,
    ...(why.includes('\n') && !work.feedback.includes(why) ? [block(why)] : []),
    ...wordsOf(failure),
    ...errorsOf(failure),
    ...commandsOf(failure),
    ...told,
  ].join('\n\n');
}

function wordsOf({ agent, lastWords }: TaskFailure): string[] {
  if (agent === null || lastWords === null) return [];
  return [`The last words of ${inline(agent)}:`, block(lastWords)];
}

function errorsOf({ errors }: TaskFailure): string[] {
  if (errors.length === 0) return [];
  const lines = errors.map(({ tool, input, output, denied }) => {
    const call = [inline(tool), inline(input)].filter((text) => text !== '').join(' ');
    return `- ${call} ${denied ? 'was denied' : 'failed'}${output === '' ? '' : `: ${inline(output, 900)}`}`;
  });
  return ['Tool calls that failed:', lines.join('\n')];
}

/** The commands contain only slugs, refs and commit ids, so they need no quoting. */
function commandsOf({ work, next }: TaskFailure): string[] {
  const kept = work === null ? [] : [`Its work is kept at ${code(work.ref)}:`, fenced([work.show])];
  return [...kept, ...(next.length === 0 ? [] : ['Next:', fenced(next)])];
}

function fenced(commands: readonly string[]): string {
  return `\`\`\`sh\n${commands.join('\n')}\n\`\`\``;
}
