import { z } from 'zod';
import { usageError, type SquadError } from '../../model/errors.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { MOST_NOTE, type InterventionRequest } from '../../model/plan/verbs.ts';
import { plainLine, visibleText } from '../../text/plain-text.ts';
import type { FilePatch } from '../../view/report/patch.ts';
import type { TaskWork } from './run-facts.ts';

const MOST_COMMENTS = 100;

/** A person's comments on the lines of a task's work. `quote`: the line as the person saw it. */
export const reviewSchema = z.strictObject({
  task: z.string().min(1),
  /** The author's turn at work ends first, where its task is at work. */
  now: z.boolean().default(false),
  comments: z
    .array(
      z.strictObject({
        path: z.string().min(1),
        line: z.int().positive(),
        /** `line` is its number in the file as it was before: the work deleted it. */
        deleted: z.boolean().default(false),
        quote: z.string(),
        text: z.string().trim().min(1),
      }),
    )
    .min(1)
    .max(MOST_COMMENTS),
});
export type Review = z.infer<typeof reviewSchema>;

/** A line of a diff. */
export interface NumberedLine {
  readonly text: string;
  /** In the file as it is after the change, or as it was before if that deleted the line; undefined: it is no line of the file. */
  readonly number: number | undefined;
  readonly deleted: boolean;
}

/** The lines of a file's diff with their numbers, as they are shown. */
export function numberedLines({ lines }: Pick<FilePatch, 'lines'>): NumberedLine[] {
  let next: { before: number; after: number } | undefined;
  return lines.map((line) => {
    const [, before, after] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    const text = visibleText(line.toWellFormed());
    const deleted = next !== undefined && line.startsWith('-');
    if (before !== undefined && after !== undefined) {
      next = { before: Number(before), after: Number(after) };
      return { text, number: undefined, deleted: false };
    }
    if (next === undefined || line.startsWith('\\')) return { text, number: undefined, deleted };
    const number = deleted ? next.before : next.after;
    if (!line.startsWith('+')) next.before += 1;
    if (!deleted) next.after += 1;
    return { text, number, deleted };
  });
}

/** How a review reaches the author of a task: a `retry` sends the task back, a `tell` is a note. */
export interface ReviewWay {
  readonly verb: 'retry' | 'tell';
  readonly author: string;
  /** For the person, before they send it. */
  readonly about: string;
  /** Its turn at work can be ended first. */
  readonly interrupts: boolean;
}

/** undefined: the task has no author that could read it. */
export function reviewWayOf({ task: { id }, work }: TaskState): ReviewWay | undefined {
  const author = work.author.thread?.agent ?? work.authors.at(-1);
  if (author === undefined) return undefined;
  const { phase } = work;
  const back = `the next turn of ${author} begins with your comments`;
  const note = `${author} reads your comments in its next turn`;
  const way = (verb: ReviewWay['verb'], about: string): ReviewWay => ({ verb, author, about, interrupts: false });
  switch (phase.at) {
    case 'working':
      return { ...way('tell', `${note}.`), interrupts: true };
    case 'reviewing':
      return way('retry', `${id} is in review. It goes back to its author, and ${back}.`);
    case 'ended':
      return phase.as === 'done'
        ? way('tell', `${id} is delivered and stays as it is. ${note}, if it has one.`)
        : way(
            'retry',
            `${id} is ${phase.cause === 'blocked' ? 'blocked' : phase.as}. squad tries it again, and ${back}.`,
          );
    default:
      return way('tell', `${id} is being checked and delivered. ${note}, if it has one.`);
  }
}

/** The command that carries all comments at once. Throws `usage` where one is on a line that is gone, and then none is sent. */
export function reviewRequest(
  { task, comments, now }: Review,
  work: TaskWork | undefined,
  { verb, author, interrupts }: ReviewWay,
): InterventionRequest {
  for (const { path, line, deleted, quote } of comments) {
    const file = work?.patch.files.find((one) => one.path === path);
    const found = file && numberedLines(file).find((one) => one.number === line && one.deleted === deleted);
    if (found?.text.slice(1) !== quote) throw lineIsGone(task, path, line);
  }
  const said = comments.map(
    ({ path, line, deleted, quote, text }, index) =>
      `${index + 1}. ${path}:${line}${deleted ? ' before your change, a line that you deleted' : ''}: \`${plainLine(quote, 200)}\`\n${text}`,
  );
  const count = comments.length === 1 ? 'a comment' : `${comments.length} comments`;
  const intro = `A person read your work on task ${task} at commit ${work?.commit.slice(0, 12) ?? ''} and has ${count} on its lines. Do what each asks, or say in your answer why not.`;
  const note = [intro, ...said].join('\n\n');
  if (note.length > MOST_NOTE) {
    throw usageError(
      `the comments have ${note.length} characters, and a review at most ${MOST_NOTE}`,
      'Shorten or remove some, and send the others afterwards.',
    );
  }
  return verb === 'retry' ? { verb, task, note } : { verb, agent: author, text: note, now: now && interrupts };
}

function lineIsGone(task: string, path: string, line: number): SquadError {
  return usageError(
    `line ${line} of ${plainLine(path, 200)} is gone from the work on ${plainLine(task, 80)}, or has changed, so nothing was sent`,
    'Remove that comment, or write it again at the line as it is now.',
  );
}
