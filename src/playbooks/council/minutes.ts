import { plainLine } from '../../text/plain-text.ts';
import type { View } from '../../model/plan.ts';
import { closedSchema, improvedSchema, placesOf } from './answers.ts';
import { assignmentsIn } from './assignments.ts';
import type { Council } from './council.ts';
import { askingsOf, outcomeOf } from './outcome.ts';
import { sayingsTo, type Asking, type Saying } from './sayings.ts';

/** The council for people: who answered what, what was made of it, and who was silent. */
export function minutesOf(view: View, council: Council): string {
  return `${[
    `# Council: ${line(view.objective.title)}`,
    `About ${council.document}. MAIN is ${council.main.agent}; members are ${council.members
      .map(({ address, agent }) => `${address} (${agent})`)
      .join(', ')}.`,
    ...askingsOf(view).flatMap((asking, index) => roundOf(view, council, asking, index + 1)),
    ...assigned(view, council),
    ...questions(view),
    ...closing(view, council),
  ].join('\n\n')}\n`;
}

function roundOf(view: View, council: Council, asking: Asking, round: number): string[] {
  const sayings = sayingsTo(view, council, asking);
  if (sayings.length === 0) return [];
  const improve = view.task(`improve-${round}`);
  const summary = improvedSchema.safeParse(improve?.answer).data?.changes_summary;
  const commit = improve?.commit === undefined ? '' : ` (${improve.commit})`;
  return [
    asking.action === 'review' ? '## Review' : `## Verification ${round - 1}`,
    ['| member | said | issues | summary |', '| --- | --- | --- | --- |', ...sayings.map(rowOf)].join('\n'),
    ...issuesOf(sayings),
    ...(improve === undefined
      ? []
      : [`Improvement ${round}: ${improve.status}${commit}. ${line(summary ?? '')}`.trim()]),
  ];
}

const SAID: Readonly<Record<Saying['how'], string>> = {
  mail: 'by message',
  answer: 'by its answer',
  failed: 'could not answer',
  silent: 'silent: approves nothing',
  waiting: 'not yet',
};

function rowOf({ seat, how, issues, summary }: Saying): string {
  return `| ${seat.address} | ${SAID[how]} | ${issues.length} | ${line(summary)} |`;
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
  const rows = assignmentsIn(view, council).map(({ task, to, task_type: type }) => {
    const state = view.task(task);
    const commit = state?.commit === undefined ? '' : ` (${state.commit})`;
    return `| ${task} | ${line(to)} | ${line(type)} | ${state?.status ?? 'waiting'}${commit} |`;
  });
  return rows.length === 0
    ? []
    : ['## Work', ['| task | for | what | status |', '| --- | --- | --- | --- |', ...rows].join('\n')];
}

function questions(view: View): string[] {
  const asked = view.mail({ type: 'ask', action: 'clarify' });
  if (asked.length === 0) return [];
  const lines = asked.map(({ id, from, owes }) => {
    const answers = view.mail({ re: id }).length;
    return `- ${line(from)}: ${id}, ${owes.length > 0 ? 'open' : answers > 0 ? 'answered' : 'closed'}`;
  });
  return ['## Questions', lines.join('\n')];
}

function closing(view: View, council: Council): string[] {
  const close = view.task('close');
  if (close === undefined) return [];
  const said = closedSchema.safeParse(close.answer).data;
  const open = said?.open_points.map((point) => `- ${line(point)}`).join('\n') ?? '';
  return [
    '## Close',
    outcomeOf(view, council)
      .lines.map((one) => `- ${line(one)}`)
      .join('\n'),
    ...(said === undefined ? [] : [line(said.summary)]),
    ...(open === '' ? [] : [`Open:\n\n${open}`]),
  ];
}

/** An agent's text as one line that cannot end a table cell. */
function line(text: string): string {
  return plainLine(text, 500).replaceAll('|', '\\|');
}
