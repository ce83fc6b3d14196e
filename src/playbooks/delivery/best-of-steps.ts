import { z } from 'zod';
import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { CHOICE, type Choice } from '../../model/plan/choice.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { repairByLastAuthor } from '../shared/repair.ts';
import { addTask, ENDED, failRun, workTask } from '../shared/tasks.ts';
import { triesOf } from './best-of-options.ts';

/** The form of a judge's answer, and how the ids of the judges' tasks begin. */
export const CHOOSE = 'choose';
const REVIEWER = 'reviewer';

/** The next step, derived from the tasks alone: tries → choose, if several are left → deliver → repairs, if the end asks for them. */
export function nextStep(view: View): PlanChange[] {
  const all = triesIn(view);
  if (all.some(isOpen)) return [];
  const deliveries = all.flatMap(({ id }) => view.task(deliveryOf(id)) ?? []);
  if (deliveries.some(isOpen)) return [];
  const chosen = all.find(({ id }) => view.task(deliveryOf(id))?.status === 'done');
  if (chosen !== undefined) return end(view, chosen);
  const candidates = candidatesOf(view);
  const [first] = candidates;
  if (first === undefined) return [failRun(['no try can be delivered', ...all.map(failureOf(view))].join('\n'))];
  return candidates.length === 1 ? [deliver(first)] : choose(view, candidates, first);
}

function isOpen({ status }: TaskView): boolean {
  return !ENDED.has(status);
}

function triesIn(view: View): TaskView[] {
  return Array.from({ length: triesOf(view) }, (_, index) => view.task(`try-${index + 1}`)).flatMap((one) => one ?? []);
}

function deliveryOf(id: string): string {
  return `deliver-${id}`;
}

/** The tries whose work can be delivered: none of them has failed a check, also not on the way to the run branch. */
export function candidatesOf(view: View): TaskView[] {
  return triesIn(view).filter(
    ({ id, status, commit }) => status === 'done' && commit !== undefined && view.task(deliveryOf(id)) === undefined,
  );
}

function failureOf(view: View) {
  return (one: TaskView): string => `${one.id}: ${whyNot(view, one)}`;
}

function whyNot(view: View, { id, status, why, commit }: TaskView): string {
  if (status !== 'done') return why ?? status;
  return view.task(deliveryOf(id))?.why ?? (commit === undefined ? 'it has no commit' : 'it was not delivered');
}

function deliver({ id, title, role }: TaskView): PlanChange {
  const task = workTask({ id: deliveryOf(id), title: `Deliver ${id}`, role, brief: title });
  return addTask({ ...task, kind: 'integrate', needs: [id], base: id, workspace: 'none' });
}

/** A reviewer who gave no usable answer is not asked again. A person who leaves the choice out wants any of them. */
function choose(view: View, candidates: readonly TaskView[], first: TaskView): PlanChange[] {
  const asked = judgesIn(view);
  const last = asked.at(-1);
  if (last !== undefined && isOpen(last)) return [];
  const taken = last === undefined ? undefined : takenBy(last, candidates, first);
  if (taken !== undefined) return [deliver(taken)];
  const silent = asked.filter(({ status }) => status === 'failed' || status === 'cancelled');
  const judge = view.roster.find(
    ({ name, role }) => role === REVIEWER && !silent.some((one) => one.agent === name || one.doneBy === name),
  );
  if (judge !== undefined) return [addTask(judgeTask(view, candidates, judge.name, asked.length))];
  const reasons = silent.map(({ id, why, status }) => `${id}: ${why ?? status}`);
  const left = candidates.map(({ id }) => id).join(', ');
  return [failRun([`no reviewer chose one of ${left}, which are done`, ...reasons].join('\n'))];
}

function judgesIn(view: View): readonly TaskView[] {
  return view.tasks({ kind: 'work', role: REVIEWER }).filter(({ output }) => output?.schema === CHOOSE);
}

const choiceSchema = z.object({ choice: z.string(), why: z.string() });

function takenBy({ status, answer }: TaskView, candidates: readonly TaskView[], first: TaskView): TaskView | undefined {
  const said = choiceSchema.safeParse(answer).data;
  if (status === 'skipped' || (status === 'done' && said === undefined)) return first;
  return status === 'done' ? candidates.find(({ id }) => id === said?.choice) : undefined;
}

function judgeTask(view: View, candidates: readonly TaskView[], agent: string, before: number) {
  const lines = candidates.map(({ id, commit = '' }) => `${id}: \`git diff HEAD...${commit}\``);
  const brief = renderPrompt('judge/choose', { candidates: lines }, view.prompts);
  const id = before === 0 ? CHOOSE : `${CHOOSE}-${before + 1}`;
  return workTask(
    { id, title: `Choose one of ${candidates.map((one) => one.id).join(', ')}`, role: REVIEWER, brief },
    { agent, needs: candidates.map((one) => one.id), output: { schema: CHOOSE, repairs: 1 }, builds: true },
  );
}

/** Proposes the end with the result of each try, once nothing else is open, such as a repair of the delivered work. */
function end(view: View, chosen: TaskView): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  const last = view.tasks().findLast(({ id }) => /^fix-\d+$/.test(id));
  if (last !== undefined && last.status !== 'done') return [failRun(`${last.id}: ${last.why ?? last.status}`)];
  const results = triesIn(view).map((one) => [one.id, resultOf(view, one, chosen)] as const);
  const lines = results.map(([id, { as, why }]) => `${id}, ${as.replace('-', ' ')}: ${why}`);
  return [
    ...results.map(([id, value]): PlanChange => ({ do: 'put', in: CHOICE, id, value: { ...value } })),
    { do: 'finish', outcome: 'done', why: lines.join('\n') },
  ];
}

function resultOf(view: View, one: TaskView, chosen: TaskView): Choice {
  if (one.id === chosen.id) return { as: 'delivered', why: whyChosen(view, one) };
  const isKept = one.status === 'done' && one.commit !== undefined && view.task(deliveryOf(one.id)) === undefined;
  if (!isKept) return { as: 'failed', why: whyNot(view, one) };
  return {
    as: 'not-chosen',
    why: one.acceptedBy === undefined ? 'its work is kept' : `its work, which ${one.acceptedBy} accepted, is kept`,
  };
}

function whyChosen(view: View, { id }: TaskView): string {
  const last = judgesIn(view).at(-1);
  const said = last?.status === 'done' ? choiceSchema.safeParse(last.answer).data : undefined;
  if (said?.choice === id) return `${last?.doneBy ?? REVIEWER} chose it: ${said.why}`;
  if (candidatesOf(view).length === 0) return 'no other try could be delivered';
  return 'the choice was left out, and it is the first one';
}

/** The repair begins on the run branch, in the session of the author whose work was delivered. */
export function repairChosen(view: View, event: Extract<PlaybookEvent, { type: 'gate-refused' }>): PlanChange[] {
  const chosen = triesIn(view).find(({ id }) => view.task(deliveryOf(id))?.status === 'done');
  const work = chosen && { ...chosen, integrate: true, requires: [{ kind: 'diff' as const }] };
  return repairByLastAuthor(view, event, work);
}
