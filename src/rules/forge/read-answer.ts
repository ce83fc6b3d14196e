import type { IssueRecord } from '../../model/forge/issue-record.ts';

/** `/squad q2 yes`; without a number where only one question was asked. */
const FORM = /^\/squad(?:[ \t]+q(\d{1,4})(?=\s|$))?(?:\s+([\s\S]*))?$/i;

export type ReadAnswer =
  | { readonly question: string; readonly text: string }
  /** For its author. */
  | { readonly problem: string };

/**
 * The answer that a comment is. undefined: it is none by anyone; a comment is an answer only if it begins so, because people also talk.
 * `open`: ids of the questions of the run that have no answer.
 */
export function readAnswer(
  body: string,
  asked: IssueRecord['asked'],
  open: ReadonlySet<string>,
): ReadAnswer | undefined {
  const found = FORM.exec(body.trim());
  if (found === null) return undefined;
  const [, number, text = ''] = found;
  const waiting = asked.flatMap(({ question }, index) => (open.has(question) ? [{ question, number: index + 1 }] : []));
  // Without a number it could be for another question by the time that it is read again.
  if (number === undefined && asked.length > 1)
    return { problem: `say which question: ${waiting.map((one) => `\`/squad q${one.number} …\``).join(' or ')}.` };
  const at = Number(number ?? 1);
  const named = waiting.find((one) => one.number === at);
  // One that has an answer needs no other.
  if (named === undefined) return at <= asked.length ? undefined : { problem: `there is no question ${at}.` };
  if (text.trim() === '') return { problem: 'there is no answer in it.' };
  return { question: named.question, text: text.trim() };
}
