import { badInput, SquadError } from '../model/errors.ts';
import type { PlanReading } from '../model/plan.ts';
import { readPlanAnswer } from '../model/plan/proposal.ts';
import { openProposal, readEditedPlan } from '../view/proposed-plan.ts';
import { plainLine } from '../text/plain-text.ts';
import type { OpenedRun } from './open-run.ts';

/** A person's version of the plan of this run. Throws if its playbook is not registered here. */
export async function checkEditedPlan({ reading, composition }: OpenedRun, plan: unknown): Promise<PlanReading> {
  const { definition } = reading;
  // No other answer needs a playbook.
  const { playbookOf } = await import('./preflight/playbook-choice.ts');
  const planning = playbookOf(composition.playbooks, definition)?.planning;
  if (planning !== undefined) return readEditedPlan(reading, planning, plan);
  throw new SquadError({
    code: 'wrong-environment',
    message: `the playbook ${definition.playbook} is not registered here, so no edited plan can be checked`,
    next: 'Answer `approve`, `stop` or what to change, or answer from the program that started the run.',
  });
}

/** Throws `bad-input` for an edited plan that the run cannot use, because a recorded answer cannot be changed. */
export async function refuseUnusablePlan(opened: OpenedRun, question: string, answer: string): Promise<void> {
  if (openProposal(opened.reading)?.question !== question) return;
  const said = readPlanAnswer(answer);
  if (said.say !== 'edited') return;
  const read = said.plan === undefined ? NOT_JSON : await checkEditedPlan(opened, said.plan);
  if (read.ok) return;
  const problems = read.problems.map((problem) => `- ${plainLine(problem, 400)}`);
  throw badInput(
    `the edited plan cannot be used:\n${problems.join('\n')}`,
    'Correct it and answer again. Nothing is recorded yet.',
  );
}

const NOT_JSON = { ok: false, problems: ['it begins like JSON and is none'] } as const;
