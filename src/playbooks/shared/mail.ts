import { z } from 'zod';
import { addressOf, agentAt } from '../../model/mail/address.ts';
import { HANDOFF, MAIN } from '../../model/mail/vocabulary.ts';
import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { answeredAtLast, ended, MAIL_ANSWER } from './mail-ends.ts';
import { BY_MAIL, freshId, orderOf } from './mail-orders.ts';
import { addTask, workTask } from './tasks.ts';

type Mail = Extract<PlanEvent, { type: 'mail' }>;

const assignmentSchema = z.object({ task_type: z.string(), dependencies: z.array(z.string()).default([]) });
const failSchema = z.object({ reason: z.string() });

/**
 * What mail does to the plan, in every playbook: a question wakes whoever it is for, an assignment or hand-off adds a task for an
 * agent or a role, a `fail` from whoever is at work ends its task, and its end is told. undefined: it is the playbook's own
 * business. Nothing that a message says counts beyond that: who may send what was judged by the mailbox.
 */
export function mailChanges(view: View, event: PlanEvent): PlanChange[] | undefined {
  switch (event.type) {
    case 'mail':
      return received(view, event);
    case 'task-done':
    case 'task-failed':
    case 'task-skipped':
      return ended(view, event);
    case 'overdue':
      return event.action === 'assign' ? tooLate(view, event.message) : undefined;
    case 'refused': {
      const { change } = event;
      if (change.do === 'reopen-task') return answeredAtLast(view, change.id);
      if (change.do !== 'add-task') return undefined;
      const order = orderOf(view, change.task.id);
      return order === undefined ? undefined : [{ do: 'refuse-mail', message: order.message, reason: event.why }];
    }
    default:
      return undefined;
  }
}

function received(view: View, event: Mail): PlanChange[] | undefined {
  if (event.kind === 'ask') return event.action === 'assign' ? assigned(view, event) : asked(view, event);
  if (event.kind === 'fail') return gaveUp(view, event);
  return undefined;
}

/** Whoever has the task says that it cannot be done: an honest end costs no further try. */
function gaveUp(view: View, event: Mail): PlanChange[] | undefined {
  const { from, body } = event;
  const task = givenUp(view, event);
  const reason = failSchema.safeParse(body).data?.reason;
  if (reason === undefined || task === undefined || !isOpen(task)) return undefined;
  return [{ do: 'settle-task', id: task.id, as: 'failed', why: `${from} gave up: ${reason}` }];
}

/** What was assigned by the message that it answers, or else what its turn is about. A question is only answered by it. */
function givenUp(view: View, { via, from, re }: Mail): TaskView | undefined {
  const agent = agentAt(view.roster, from)?.name;
  if (agent === undefined) return undefined;
  if (re === undefined) {
    const task = via === undefined ? undefined : view.task(via);
    // Whoever only judges it does not end it.
    return task?.doneBy === agent ? task : undefined;
  }
  if (re.action !== 'assign') return undefined;
  const assigned = view.tasks({ ended: false }).filter(({ id }) => orderOf(view, id)?.message === re.id);
  return assigned.find((task) => (task.doneBy ?? task.agent) === agent);
}

/** What was assigned by an agent and not done in time has failed, whoever is at it. */
function tooLate(view: View, message: string): PlanChange[] | undefined {
  const late = view.tasks({ ended: false }).filter(({ id }) => orderOf(view, id)?.message === message);
  if (late.length === 0) return undefined;
  return late.map(({ id }) => ({ do: 'settle-task', id, as: 'failed', why: 'the deadline of its assignment is over' }));
}

/** One task for each agent that is asked; a person among them is asked by the engine. */
function asked(view: View, event: Mail): PlanChange[] | undefined {
  const changes = event.to.flatMap((address, place): PlanChange[] => {
    const agent = agentAt(view.roster, address) ?? view.roster.find((member) => isFor(address, member, event.from));
    if (agent === undefined) return address === MAIN ? [] : [{ do: 'close-ask', message: event.id, by: address }];
    const id = freshId(view, 'answer', { message: event.id, place, name: agent.name });
    const documents = address === MAIN && event.action === 'clarify';
    const task = workTask(
      { id, title: `Answer ${event.from}`, role: agent.role, brief: briefOfAsk(event, documents) },
      {
        agent: agent.name,
        ...(event.via === undefined ? {} : { parent: event.via }),
        session: sessionOf(view, agent.name),
        priority: 10,
        ...(event.action === 'clarify' ? { output: { schema: MAIL_ANSWER, repairs: 1 } } : {}),
        ...(documents ? { workspace: 'own', integrate: true, mayChangeNothing: true } : {}),
      },
    );
    return ordered({ ...task, brief: { ...task.brief, mail: [event.id] } }, event, address, true);
  });
  if (changes.length === 0) return undefined;
  const isToNobody = !event.to.includes(MAIN) && changes.every((change) => change.do === 'close-ask');
  const reason = `there is nobody but ${event.from} to answer it`;
  return isToNobody ? [{ do: 'refuse-mail', message: event.id, reason }] : changes;
}

/** To a role: any of it but the one that asks. */
function isFor(address: string, member: View['roster'][number], from: string): boolean {
  return member.role === address && addressOf(member) !== from;
}

function briefOfAsk({ from, action }: Mail, documents: boolean): string {
  const by =
    'Use the tool `reply` of the squad server, or else give the answer as your last word in the form asked for.';
  if (action === 'review' || action === 'verify') {
    return `${from} asks you for a ${action === 'review' ? 'review' : 'verification'}: see your mail below. Look, change nothing, and answer with the tool \`report\`, or with \`done\` where there is nothing to report.`;
  }
  if (!documents) return `${from} asks you something (${action ?? 'ask'}): see your mail below. Answer it. ${by}`;
  return [
    `${from} does not understand something and cannot go on: see your mail below.`,
    'First complete the documentation, so that nobody has to ask this again: where in the code, which functions, which steps,',
    'which limits, how one sees that it is right. Name files and lines. Change documentation only, and commit it.',
    `Then answer, with where you wrote it (\`doc_updated\`). If nothing needs to be written, say why as the \`reason\`. ${by}`,
  ].join('\n');
}

function assigned(view: View, event: Mail): PlanChange[] | undefined {
  const body = assignmentSchema.safeParse(event.body).data;
  if (body === undefined) return [{ do: 'refuse-mail', message: event.id, reason: 'the assignment cannot be read' }];
  return event.to.flatMap((address, place): PlanChange[] => {
    const agent = agentAt(view.roster, address);
    const members = agent === undefined ? view.roster.filter(({ role }) => role === address) : [agent];
    const [first] = members;
    if (first === undefined) {
      const reason = `nobody is called ${address}; there are ${addressesOf(view).join(', ')}`;
      return [{ do: 'refuse-mail', message: event.id, reason }];
    }
    const handOff = body.task_type === HANDOFF;
    const before = lastTaskOf(
      view,
      members.map(({ name }) => name),
    );
    const commits = members.every((member) => member.commits);
    const title = handOff ? `Hand-off from ${event.from}` : `${body.task_type} for ${event.from}`;
    const task = workTask(
      {
        id: freshId(view, 'mail', { message: event.id, place, name: first.role }),
        title,
        role: first.role,
        brief: briefOf(event, handOff),
      },
      {
        ...(agent === undefined ? {} : { agent: agent.name }),
        session: handOff && before !== undefined ? { of: before } : 'new',
        needs: needsOf(view, event, body.dependencies),
        ...(event.via === undefined ? {} : { parent: event.via }),
        ...(commits ? { workspace: 'own', integrate: true, requires: [{ kind: 'commit' }] } : {}),
      },
    );
    return ordered({ ...task, brief: { ...task.brief, mail: [event.id] } }, event, address, false);
  });
}

/** What is to be done stands in the message alone: another agent's words are never outside its fence. */
function briefOf({ id, from }: Mail, handOff: boolean): string {
  const what = handOff ? 'hands its work on to you' : 'has assigned work to you';
  const rest = handOff ? 'Do what is left of it that is yours.' : 'Do what it asks for, within what your role may do.';
  return `${from} ${what}: see the message ${id} in your mail below. ${rest}`;
}

/** Whoever hands on has to have delivered first, where it delivers at all. Dependencies are named as in messages. */
function needsOf(view: View, { via }: Mail, dependencies: readonly string[]): string[] {
  const task = via === undefined ? undefined : view.task(via);
  const first = task !== undefined && task.integrate && isOpen(task) ? [task.id] : [];
  const named = dependencies.flatMap((name) => (view.task(name) === undefined ? tasksOfMail(view, name) : [name]));
  return [...new Set([...first, ...named])].filter((id) => id !== via || isOpen(view.task(id) ?? { status: 'done' }));
}

function tasksOfMail(view: View, name: string): string[] {
  const messages = new Set(view.mail({ task: name, type: 'ask', action: 'assign' }).map(({ id }) => id));
  return view.tasks().flatMap(({ id }) => (messages.has(orderOf(view, id)?.message ?? '') ? [id] : []));
}

function ordered(task: NewTask, { id: message, from }: Mail, by: string, answers: boolean): PlanChange[] {
  return [{ do: 'put', in: BY_MAIL, id: task.id, value: { message, from, by, answers } }, addTask(task)];
}

/** Whoever has a session goes on in it. */
function sessionOf(view: View, agent: string): NewTask['session'] {
  const before = lastTaskOf(view, [agent]);
  return before === undefined ? 'new' : { of: before };
}

function lastTaskOf(view: View, agents: readonly string[]): string | undefined {
  const done = view.tasks().filter(({ doneBy }) => doneBy !== undefined && agents.includes(doneBy));
  return (done.findLast((task) => !isOpen(task)) ?? done.at(-1))?.id;
}

function addressesOf(view: View): string[] {
  return [...new Set(view.roster.flatMap((member) => [addressOf(member), member.role]))];
}

function isOpen({ status }: Pick<TaskView, 'status'>): boolean {
  return !['done', 'failed', 'skipped', 'cancelled'].includes(status);
}
