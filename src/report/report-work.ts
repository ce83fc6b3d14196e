import { authorAttempts } from '../graph/decisions/work-status.ts';
import type { TaskState } from '../model/plan/board.ts';
import type { RoundRecord } from '../model/plan/work.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { block, code, inline, list, tableSection } from './markdown.ts';
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
  const feedback = work.feedback.map(
    (text, index) => `Feedback ${index + 1} of ${work.feedback.length}:\n\n${block(text)}`,
  );
  return [
    `### ${code(task.id)}: ${inline(task.title, 80)}`,
    `${as === 'failed' ? 'Failed' : 'Cancelled'}${cause === null || cause === as ? '' : ` (${cause})`} in ${rounds}: ${inline(why)}`,
    ...(why.includes('\n') && !work.feedback.includes(why) ? [block(why)] : []),
    ...wordsOf(failure),
    ...errorsOf(failure),
    ...commandsOf(failure),
    ...feedback,
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

/** Each round on one line. The section of a failed task has its feedback in full. */
export function reviewsSection({ board }: RunReading): string | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.rounds.map((round, index) => [
      code(task.id),
      `${round.round} of ${task.review?.rounds ?? round.round}`,
      code(round.commit.slice(0, 12)),
      verdictOf(round, work.rounds.slice(0, index)),
      round.by.map(({ role, agent }) => `${inline(role)} (${inline(agent)})`).join(', '),
      inline(round.feedback, 400),
    ]),
  );
  return tableSection('Reviews', ['task', 'round', 'commit', 'verdict', 'by', 'feedback'], rows);
}

function verdictOf({ approved, findings }: RoundRecord, earlier: readonly RoundRecord[]): string {
  if (approved) return 'approved';
  const before = earlier.findLast((round) => !round.approved)?.findings ?? [];
  const same = findings.length > 0 && findings.join('\n') === before.join('\n');
  return same ? '**rejected**, not converging: the same findings as before' : '**rejected**';
}

export function followUpsSection({ board }: RunReading): string | undefined {
  const lines = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.followUps.map((text) => `${code(task.id)}: ${inline(text, 600)}`),
  );
  if (lines.length === 0) return undefined;
  return `## Follow-ups\n\nReviewers saw this beyond the criteria; it was not done.\n\n${list(lines)}`;
}
