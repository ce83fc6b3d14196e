import { z } from 'zod';
import { addressOf, agentAt } from '../../model/mail/address.ts';
import { HANDOFF, MAIN } from '../../model/mail/vocabulary.ts';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { freshId, lastTaskOf, ordered, orderOf } from './mail-orders.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { mailTexts } from './mail-texts.ts';
import { waitFor, type MailWork } from './mail-work.ts';
import { ENDED, workTask } from './tasks.ts';

type Mail = Extract<PlaybookEvent, { type: 'mail' }>;

const assignmentSchema = z.object({ task_type: z.string(), dependencies: z.array(z.string()).default([]) });

/** Plans work for each recipient, in the way that the playbook plans its own. Tasks that judge the whole wait for it. */
export function assigned(view: View, event: Mail, work: MailWork): PlanChange[] {
  const body = assignmentSchema.safeParse(event.body).data;
  if (body === undefined) return [{ do: 'refuse-mail', message: event.id, reason: 'the assignment cannot be read' }];
  const foreign = foreignTask(view, event);
  if (foreign !== undefined) return [{ do: 'refuse-mail', message: event.id, reason: foreign }];
  const texts = mailTexts(view);
  const added: string[] = [];
  const changes = event.to.flatMap((address, place): PlanChange[] => {
    const agent = agentAt(view.roster, address);
    const members = agent === undefined ? view.roster.filter(({ role }) => role === address) : [agent];
    const [first] = members;
    if (first === undefined) {
      const reason = `no agent or role is called ${address}; there are ${addressesOf(view).join(', ')}`;
      return [{ do: 'refuse-mail', message: event.id, reason }];
    }
    const handOff = body.task_type === HANDOFF;
    const before = lastTaskOf(
      view,
      members.map(({ name }) => name),
    );
    const title = handOff ? texts.handOffTitle(event.from) : texts.assignmentTitle(body.task_type, event.from);
    const task = workTask(
      {
        id: freshId(view, 'mail', { message: event.id, place, name: first.role }),
        title,
        role: first.role,
        // Another agent's words stay inside the message's fence, so the brief only refers to the message.
        brief: renderPrompt(
          handOff ? 'mail/hand-off' : 'mail/assignment',
          { from: event.from, message: event.id },
          view.prompts,
        ),
      },
      {
        ...(agent === undefined ? {} : { agent: agent.name }),
        session: handOff && before !== undefined ? { of: before } : 'new',
        needs: needsOf(view, event, body.dependencies).filter((id) => !work.finals.includes(id)),
        ...(event.via === undefined ? {} : { parent: event.via }),
      },
    );
    const asked = { ...task, brief: { ...task.brief, mail: [event.id] } };
    const tasks = work.tasks(view, asked);
    const last = tasks.at(-1);
    // Tasks without changes deliver nothing to judge.
    if (last !== undefined && tasks.some(({ integrate }) => integrate)) added.push(last.id);
    const records = work.records?.(view, asked) ?? [];
    return [...records, ...ordered(tasks, { message: event.id, from: event.from, by: address, answers: false })];
  });
  return [...changes, ...waitFor(view, work, added)];
}

/** The work waits for the sender's own delivery and for the dependencies, which the message names. */
function needsOf(view: View, { via }: Mail, dependencies: readonly string[]): string[] {
  const task = via === undefined ? undefined : view.task(via);
  const first = task !== undefined && task.integrate && !ENDED.has(task.status) ? [task.id] : [];
  const named = dependencies.flatMap((name) => (view.task(name) === undefined ? tasksOfMail(view, name) : [name]));
  return [...new Set([...first, ...named])].filter((id) => id !== via || !ENDED.has(view.task(id)?.status ?? 'done'));
}

function tasksOfMail(view: View, name: string): string[] {
  const messages = new Set(view.mail({ task: name, type: 'ask', action: 'assign' }).map(({ id }) => id));
  return view.tasks().flatMap(({ id }) => (messages.has(orderOf(view, id)?.message ?? '') ? [id] : []));
}

/**
 * Why an agent may not hand on or assign this task; undefined if it may. Its own tasks are the task of its turn, tasks assigned to
 * it, and tasks that it assigned. MAIN coordinates, and may assign any task.
 */
function foreignTask(view: View, { id: event, task, via, from }: Mail): string | undefined {
  if (task === undefined || via === undefined || from === MAIN) return undefined;
  const sender = agentAt(view.roster, from);
  // A reviewer's turn is about a task that another one does.
  const own = view.task(via)?.doneBy === sender?.name ? via : undefined;
  if (task === own) return undefined;
  const mine = new Set([from, sender?.role]);
  const assigned = view.mail({ task, type: 'ask', action: 'assign' }).filter(({ id }) => id !== event);
  if (assigned.some((mail) => mine.has(mail.from) || mail.to.some((to) => mine.has(to)))) return undefined;
  if (assigned.length === 0 && view.task(task) === undefined) return undefined;
  const may = own === undefined ? 'a new task' : `${own} or a new task`;
  return `${task} is not a task of ${from}, who may hand on or assign ${may}; if ${task} has to change, send a message to MAIN or to the agent that has it`;
}

function addressesOf(view: View): string[] {
  return [...new Set(view.roster.flatMap((member) => [addressOf(member), member.role]))];
}
