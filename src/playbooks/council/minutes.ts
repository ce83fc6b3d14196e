import { z } from 'zod';
import { said } from '../../model/mail/human-line.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { View } from '../../model/plan.ts';
import type { MailView } from '../../model/plan/board.ts';
import { closedSchema, improvedSchema, placesOf } from './answers.ts';
import { assignmentsIn } from './assignments.ts';
import type { Council } from './council.ts';
import { minutesTexts } from './minutes-texts.ts';
import { askingsOf, outcomeOf } from './outcome.ts';
import { sayingsTo, type Asking, type Saying } from './sayings.ts';

/** The council for people: who answered what, what was made of it, and who was silent. */
export function minutesOf(view: View, council: Council): string {
  const texts = minutesTexts(view);
  const members = council.members.map(({ address, agent }) => texts.seat(address, agent)).join(', ');
  return `${[
    texts.title(line(view.objective.title)),
    texts.about(council.document, council.main.agent, members),
    ...askingsOf(view).flatMap((asking, index) => roundOf(view, council, asking, index + 1)),
    ...assigned(view, council),
    ...questions(view),
    ...closing(view, council),
  ].join('\n\n')}\n`;
}

function roundOf(view: View, council: Council, asking: Asking, round: number): string[] {
  const texts = minutesTexts(view);
  const sayings = sayingsTo(view, council, asking);
  if (sayings.length === 0) return [];
  const improve = view.task(`improve-${round}`);
  const summary = improvedSchema.safeParse(improve?.answer).data?.changes_summary;
  const rowOf = ({ seat, how, issues, summary: words }: Saying): string =>
    `| ${seat.address} | ${texts.said[how]} | ${issues.length} | ${line(words)} |`;
  return [
    asking.action === 'review' ? texts.review : texts.verification(round - 1),
    [texts.sayings, '| --- | --- | --- | --- |', ...sayings.map(rowOf)].join('\n'),
    ...issuesOf(sayings),
    ...(improve === undefined ? [] : [texts.improvement(round, statusOf(view, improve), line(summary ?? '')).trim()]),
  ];
}

/** The state of a task, and the commit that it delivered. */
function statusOf(view: View, task: { readonly status: string; readonly commit?: string | undefined }): string {
  const status = minutesTexts(view).status[task.status] ?? task.status;
  return task.commit === undefined ? status : `${status} (${task.commit})`;
}

function issuesOf(sayings: readonly Saying[]): string[] {
  const lines = sayings.flatMap(({ seat, issues }) =>
    issues.map((issue) => {
      const what = `${issue.severity} ${issue.category}, ${line(placesOf(issue))}`;
      return `- ${seat.address}, ${what}: ${line(issue.summary)} ${line(issue.suggestion)}`;
    }),
  );
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function assigned(view: View, council: Council): string[] {
  const texts = minutesTexts(view);
  const rows = assignmentsIn(view, council).map(({ task, to, task_type: type }) => {
    const status = statusOf(view, view.task(task) ?? { status: 'waiting' });
    return `| ${task} | ${line(to)} | ${line(type)} | ${status} |`;
  });
  return rows.length === 0 ? [] : [texts.work, [texts.assigned, '| --- | --- | --- | --- |', ...rows].join('\n')];
}

function questions(view: View): string[] {
  const asked = view.mail({ type: 'ask', action: 'clarify' });
  if (asked.length === 0) return [];
  const lines = asked.map((ask) => {
    const { question, doc_path: doc, code_path: code } = z.object(QUESTION).parse(ask.body);
    const places = [doc, code].filter((path) => path !== '' && path !== '-');
    const where = places.length === 0 ? '' : ` (${places.map(line).join(', ')})`;
    return `- ${line(ask.from)}: ${line(question)}${where} — ${endOf(view, ask)}`;
  });
  return [minutesTexts(view).questions, lines.join('\n')];
}

const QUESTION = { question: z.string().catch('-'), doc_path: z.string().catch(''), code_path: z.string().catch('') };

/** How a question ended, in words. Only an answer answers it: neither a `fail` nor a recipient who is gone does. */
function endOf(view: View, { id, owes }: MailView): string {
  const texts = minutesTexts(view);
  if (owes.length > 0) return texts.open;
  const replies = view.mail({ re: id });
  const answer = replies.findLast(({ type, action }) => type === 'send' && action === 'answer');
  if (answer !== undefined) return texts.answered(line(answer.from), line(said(answer, answer.body, view.locale)));
  const fail = replies.findLast(({ type }) => type === 'fail');
  return fail === undefined ? texts.noOne : texts.failed(line(fail.from), line(said(fail, fail.body, view.locale)));
}

function closing(view: View, council: Council): string[] {
  const texts = minutesTexts(view);
  const close = view.task('close');
  if (close === undefined) return [];
  const closed = closedSchema.safeParse(close.answer).data;
  const open = closed?.open_points.map((point) => `- ${line(point)}`).join('\n') ?? '';
  return [
    texts.close,
    outcomeOf(view, council)
      .lines.map((one) => `- ${line(one)}`)
      .join('\n'),
    ...(closed === undefined ? [] : [line(closed.summary)]),
    ...(open === '' ? [] : [`${texts.openPoints}\n\n${open}`]),
  ];
}

/** An agent's text as one line that cannot end a table cell. */
function line(text: string): string {
  return plainLine(text, 500).replaceAll('|', '\\|');
}
