import { createView } from '../rules/view.ts';
import type { Planning, PlanReading } from '../model/plan.ts';
import { PROPOSAL, proposalSchema, readPlan, type Proposal } from '../model/plan/proposal.ts';
import type { RunReading } from './read-run.ts';

/** The plan that a person is asked about; undefined: the run asks about none. */
export function openProposal({ board, questions }: Pick<RunReading, 'board' | 'questions'>): Proposal | undefined {
  const { data } = proposalSchema.safeParse(board.records.get(PROPOSAL.in)?.get(PROPOSAL.id));
  if (data === undefined || !data.open) return undefined;
  return questions.some(({ id, recorded }) => id === data.question && recorded === null) ? data : undefined;
}

/** A person's version of the plan, by the same checks as the planner's own. */
export function readEditedPlan({ board }: Pick<RunReading, 'board'>, planning: Planning, plan: unknown): PlanReading {
  return readPlan(planning, createView(board), plan);
}
