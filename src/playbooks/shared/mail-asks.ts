import { addressOf, agentAt } from '../../model/mail/address.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { MAIL_ANSWER, PATHS_ANSWER } from './mail-ends.ts';
import { freshId, lastTaskOf, ordered } from './mail-orders.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { mailTexts } from './mail-texts.ts';
import type { MailWork } from './mail-work.ts';
import { workTask } from './tasks.ts';

type Mail = Extract<PlaybookEvent, { type: 'mail' }>;

/** Paths that count as documentation. */
export const DOCUMENTATION = ['docs', '*.md', '*.mdx', '*.rst', '*.adoc'] as const;

/** One task for each agent that is asked. The engine asks a person. */
export function asked(view: View, event: Mail, work: MailWork): PlanChange[] | undefined {
  const refusal = work.refusal?.(view, event);
  if (refusal !== undefined) return [{ do: 'refuse-mail', message: event.id, reason: refusal }];
  const changes = event.to.flatMap((address, place): PlanChange[] => {
    const agent = agentAt(view.roster, address) ?? view.roster.find((member) => isFor(address, member, event.from));
    if (agent === undefined) return address === MAIN ? [] : [{ do: 'close-ask', message: event.id, by: address }];
    const id = freshId(view, 'answer', { message: event.id, place, name: agent.name });
    const documents = address === MAIN && event.action === 'clarify';
    const grants = event.action === 'clarify' && work.grants?.mayAdd(view, event, agent.name) === true;
    const brief = askBrief(view, event, { documents, grants, commits: agent.commits });
    const task = workTask(
      { id, title: mailTexts(view).answerTitle(event.from), role: agent.role, brief },
      {
        agent: agent.name,
        ...(event.via === undefined ? {} : { parent: event.via }),
        session: sessionOf(view, agent.name),
        priority: 10,
        ...(event.action === 'clarify' ? { output: { schema: grants ? PATHS_ANSWER : MAIL_ANSWER, repairs: 1 } } : {}),
        ...(documents ? DOCUMENTS : {}),
      },
    );
    const written = { ...task, brief: { ...task.brief, mail: [event.id] } };
    const order = { message: event.id, from: event.from, by: address, answers: true };
    return ordered([documents ? work.answer(view, written) : written], order);
  });
  if (changes.length === 0) return undefined;
  const isToNobody = !event.to.includes(MAIN) && changes.every((change) => change.do === 'close-ask');
  const reason = `only ${event.from} itself could answer it`;
  return isToNobody ? [{ do: 'refuse-mail', message: event.id, reason }] : changes;
}

/** A task for MAIN's answer, which may change the documentation and nothing else. */
const DOCUMENTS = {
  workspace: 'own',
  integrate: true,
  mayChangeNothing: true,
  requires: [{ kind: 'only', paths: [...DOCUMENTATION] }],
} as const satisfies Partial<NewTask>;

/** A message to a role goes to each of its members except the sender. */
function isFor(address: string, member: View['roster'][number], from: string): boolean {
  return member.role === address && addressOf(member) !== from;
}

function askBrief(
  { prompts }: View,
  { from, action = 'ask' }: Mail,
  { documents, grants, commits }: { readonly documents: boolean; readonly grants: boolean; readonly commits: boolean },
): string {
  if (action === 'review' || action === 'verify')
    return renderPrompt('mail/review', { from, isVerification: action === 'verify' ? 'yes' : '' }, prompts);
  const morePaths = grants ? 'yes' : '';
  return documents
    ? renderPrompt('mail/unclear', { from, morePaths, commits: commits ? 'yes' : '' }, prompts)
    : renderPrompt('mail/question', { from, action, morePaths }, prompts);
}

/** An agent that has a session continues it. */
function sessionOf(view: View, agent: string): NewTask['session'] {
  const before = lastTaskOf(view, [agent]);
  return before === undefined ? 'new' : { of: before };
}
