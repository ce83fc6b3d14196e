import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import type { Planning, PlanReading, Playbook, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import {
  PLAN_OPTIONS,
  PROPOSAL,
  proposalSchema,
  readPlan,
  readPlanAnswer,
  type PlanAnswer,
  type Proposal,
} from '../../model/plan/proposal.ts';

type Policy = Playbook<unknown>['advance'];
type Usable = Extract<PlanReading, { ok: true }>;
type Heard<T extends PlaybookEvent['type']> = Extract<PlaybookEvent, { type: T }>;

/**
 * Puts a person between a plan and its tasks: the playbook hears of the planner's answer once the plan is approved. Without
 * `plan: ask`, it hears of it at once.
 */
export function withApproval<I>(playbook: Playbook<I>): Playbook<I> {
  const { planning } = playbook;
  if (planning === undefined) return playbook;
  const policy: Policy = (view, event) => playbook.advance(view, event);
  return { ...playbook, advance: (view, event) => advance(planning, policy, view, event) };
}

function advance(planning: Planning, policy: Policy, view: View, event: PlaybookEvent): PlanChange[] {
  const proposal = proposalOf(view);
  if (event.type === 'task-done' && event.task === planning.task) return planned(planning, policy, view, event);
  if (proposal === undefined) return policy(view, event);
  if (event.type === 'answered' && event.question === proposal.question) {
    return answered(planning, policy, view, event, proposal);
  }
  if (event.type === 'refused' && event.change.do === 'reopen-task' && event.change.id === planning.task) {
    return again(planning, proposal, `The planner cannot change it: ${event.why}.`);
  }
  const changes = policy(view, event);
  // There is no task yet that the playbook could wait for.
  return proposal.open ? changes.filter((one) => one.do !== 'finish' || one.outcome !== 'done') : changes;
}

function planned(planning: Planning, policy: Policy, view: View, event: Heard<'task-done'>): PlanChange[] {
  if (view.asksForPlan !== true) {
    const reading = planning.read(view, event.output);
    return [...(reading.ok ? criteriaOf(reading, false) : []), ...policy(view, event)];
  }
  const reading = readPlan(planning, view, event.output);
  const before = proposalOf(view);
  if (reading.ok) return propose(planning, reading, { before });
  if (before === undefined) return policy(view, event);
  const problems = reading.problems.join('\n');
  if (before.fixing) return again(planning, before, `The planner’s new plan cannot be used: ${problems}`);
  return [keep({ ...before, fixing: true }), reopen(planning, `This plan cannot be used:\n${problems}`)];
}

function answered(
  planning: Planning,
  policy: Policy,
  view: View,
  event: Heard<'answered'>,
  proposal: Proposal,
): PlanChange[] {
  const { seq, at, by } = event;
  const accept = (reading: PlanReading, before: Pick<Proposal, 'before'> = {}): PlanChange[] => {
    if (!reading.ok) return again(planning, proposal, `This plan cannot be used: ${reading.problems.join('\n')}`);
    const { ok: _, answer: output, ...plan } = reading;
    const done = { type: 'task-done', seq, at, task: planning.task, output, followUps: [] } as const;
    const kept = {
      ...proposal,
      ...before,
      ...plan,
      tasks: [...plan.tasks],
      criteria: [...plan.criteria],
      answer: output,
    };
    return [keep({ ...kept, open: false }), ...criteriaOf(reading, true), ...policy(view, done)];
  };
  const said = readPlanAnswer(event.answer);
  switch (said.say) {
    case 'stop':
      return [
        keep({ ...proposal, open: false }),
        { do: 'finish', outcome: 'cancelled', why: `cancelled by ${by}: the plan was not approved` },
      ];
    case 'change': {
      const feedback = `${by} has read this plan and asks for a change:\n${said.text}`;
      return [keep({ ...proposal, fixing: false }), { ...reopen(planning, feedback), isFault: false }];
    }
    case 'approve':
      return accept(readPlan(planning, view, proposal.answer));
    case 'edited':
      return accept(readEdited(planning, view, said), { before: shownIn(proposal) });
    default:
      return said satisfies never;
  }
}

function readEdited(planning: Planning, view: View, { plan }: Extract<PlanAnswer, { say: 'edited' }>): PlanReading {
  return plan === undefined ? { ok: false, problems: ['it is not JSON'] } : readPlan(planning, view, plan);
}

interface Again {
  /** The plan that was asked about last. */
  readonly before?: Proposal | undefined;
  /** Why the same plan is asked about again. */
  readonly note?: string;
}

function propose({ task }: Planning, reading: Usable, { before, note }: Again): PlanChange[] {
  const number = (before?.number ?? 0) + 1;
  const { answer, summary, tasks, criteria } = reading;
  const question = `plan-${number}`;
  const shown = before && shownIn(before);
  const changed = note === undefined ? { before: shown } : { note };
  const proposal = { number, question, open: true, fixing: false, summary, answer, ...defined(changed) };
  return [
    keep({ ...proposal, tasks: [...tasks], criteria: [...criteria] }),
    { do: 'ask', id: question, text: questionText(reading, note), options: [...PLAN_OPTIONS], task },
  ];
}

function shownIn({ summary, tasks, criteria }: Proposal): NonNullable<Proposal['before']> {
  return { summary, tasks, criteria };
}

/** Asks about the same plan once more. */
function again(planning: Planning, before: Proposal, note: string): PlanChange[] {
  return propose(planning, { ok: true, ...before }, { before, note });
}

/** More tasks would hide the question. */
const MOST_NAMED = 12;

function questionText({ summary, tasks }: Usable, note: string | undefined): string {
  const named = tasks.slice(0, MOST_NAMED).map(({ id }) => id);
  const left = tasks.length - named.length;
  const list = `${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  const about = [...(note === undefined ? [] : [note]), summary.trim()].join(' ').trim();
  return `Approve the plan? ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${list}. ${about}`.trim();
}

function proposalOf(view: View): Proposal | undefined {
  return proposalSchema.safeParse(view.record(PROPOSAL.in, PROPOSAL.id)).data;
}

function keep(value: Proposal): PlanChange {
  return { do: 'put', ...PROPOSAL, value: plainJson(value) };
}

function reopen({ task: id }: Planning, feedback: string): Extract<PlanChange, { do: 'reopen-task' }> {
  return { do: 'reopen-task', id, session: 'same', feedback };
}

function criteriaOf({ criteria }: Usable, agreed: boolean): PlanChange[] {
  return criteria.length === 0 ? [] : [{ do: 'propose-criteria', criteria: [...criteria], agreed }];
}
