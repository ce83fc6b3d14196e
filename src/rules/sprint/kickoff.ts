import type { Attachment } from '../../model/sprint/request.ts';
import type { Kickoff } from '../../model/sprint/sprint.ts';
import { backlogOf, type Team } from '../../model/sprint/team.ts';
import { plainLine } from '../../text/plain-text.ts';

/** The kickoff of a sprint that starts by itself: the most urgent of these items alone. What a planner makes of it stands beside it. */
export function kickoffOf(team: Team, trigger: Kickoff['trigger'], items: readonly string[]): Kickoff {
  const all = backlogOf(team).filter(({ id }) => items.includes(id));
  const most = all[0]?.priority;
  const first = all.filter(({ priority }) => priority === most);
  const lines = first.map(({ id, title, acceptance }) =>
    [`## ${plainLine(title, 200)} (${id})`, '', ...acceptance.map((one) => `- ${plainLine(one, 500)}`)].join('\n'),
  );
  return {
    milestone: plainLine(first.map(({ title }) => title).join('; '), 200),
    text: lines.join('\n\n'),
    items: first.map(({ id }) => id),
    attachments: attachmentsOf(
      team,
      first.map(({ id }) => id),
    ),
    by: 'squad',
    trigger,
  };
}

/** More names would not fit into an answer that says which were read. */
const MOST_ATTACHMENTS = 50;

/** Those of the requests that the items were made for. */
function attachmentsOf({ request, requestPlan }: Team, items: readonly string[]): Attachment[] {
  const all = [...requestPlan].flatMap(([id, plan]) =>
    plan.items.some((item) => items.includes(item)) ? (request.get(id)?.attachments ?? []) : [],
  );
  return [...new Map(all.map((one) => [`${one.sha256} ${one.name}`, one])).values()].slice(0, MOST_ATTACHMENTS);
}
