import { z } from 'zod';
import { missingIn } from '../../text/missing-in.ts';
import { plainLine } from '../../text/plain-text.ts';

const replySchema = z.object({
  finding: z.string().describe('its label, such as F1'),
  as: z.enum(['fixed', 'disagree']),
  why: z.string().describe('how it is fixed, or why it is wrong'),
});

/** An author's own words on its work: claims, never evidence. No field is optional, because strict structured output requires all. */
export const authorReportSchema = z.object({
  done: z.string().describe('what you did, in one to three sentences'),
  checked: z
    .array(z.object({ command: z.string(), exitCode: z.number().int() }))
    .describe('the commands that you ran on the work as it is now'),
  assumed: z.array(z.string()).describe('what you decided because the task leaves it open, in the whole task'),
  notDone: z.array(z.string()).describe('what the task asks for and your work lacks, and why; empty: nothing'),
  replies: z.array(replySchema).describe('after a rejection one for each finding; otherwise empty'),
});
export type AuthorReport = z.infer<typeof authorReportSchema>;

const MOST_ENTRIES = 20;
const MOST_CHARACTERS = 500;

/** The part of an author's answer that squad keeps: plain lines of a bounded number and length. undefined: it is no report. */
export function readReport(answer: unknown): AuthorReport | undefined {
  const read = authorReportSchema.safeParse(answer).data;
  if (read === undefined) return undefined;
  const { done, checked, assumed, notDone, replies } = read;
  return {
    done: kept(done),
    checked: checked
      .slice(0, MOST_ENTRIES)
      .map(({ command, exitCode }) => ({ command: kept(command), exitCode }))
      .filter(({ command }) => command !== ''),
    assumed: entriesOf(assumed),
    notDone: entriesOf(notDone),
    replies: replies
      .slice(0, MOST_ENTRIES)
      .map(({ finding, as, why }) => ({ finding: plainLine(finding, 40), as, why: kept(why) })),
  };
}

function entriesOf(texts: readonly string[]): string[] {
  return missingIn(texts.slice(0, MOST_ENTRIES).map(kept));
}

function kept(text: string): string {
  // No more of a long text is looked at than is kept of it.
  return plainLine(text.slice(0, MOST_CHARACTERS * 4), MOST_CHARACTERS);
}

/** The words of a turn's author: of its report, or its last text if it gave none. */
export function wordsOf({ text, structured }: { readonly text: string; readonly structured?: unknown }): string {
  return readReport(structured)?.done ?? text;
}

/** A report in lines, for who judges the work. */
export function reportLines({ done, checked, assumed, notDone, replies }: AuthorReport): string[] {
  return [
    `Done: ${done}`,
    ...checked.map(({ command, exitCode }) => `Ran \`${command}\`: exit code ${exitCode}`),
    ...assumed.map((text) => `Assumed: ${text}`),
    ...notDone.map((text) => `Not done: ${text}`),
    ...replies.map(({ finding, as, why }) => `To ${finding}: ${as === 'fixed' ? 'fixed' : 'disagrees'}. ${why}`),
  ];
}

/** Whether it disagrees, and says why, with each of these findings. */
export function disagreesWithAll({ replies }: AuthorReport, labels: readonly string[]): boolean {
  const answered = (label: string): boolean => {
    const own = replies.filter(({ finding }) => isSame(finding, label));
    return own.length > 0 && own.every(({ as, why }) => as === 'disagree' && why !== '');
  };
  return labels.length > 0 && labels.every(answered);
}

/** A finding that an author does not agree with, by its label. */
export interface Disagreement {
  readonly finding: string;
  readonly why: string;
}

/** Those with a reason, of findings with these labels. */
export function disagreementsIn({ replies }: AuthorReport, labels: readonly string[]): Disagreement[] {
  return replies.flatMap(({ finding, as, why }) => {
    const label = labels.find((one) => isSame(finding, one));
    return label === undefined || as !== 'disagree' || why === '' ? [] : [{ finding: label, why }];
  });
}

/** A label with or without its letter. */
function isSame(finding: string, label: string): boolean {
  const number = /^\W*f?\s*(\d{1,6})\b/i.exec(finding)?.[1];
  return number !== undefined && `F${Number(number)}` === label;
}
