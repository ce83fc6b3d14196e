import { createView } from '../rules/view.ts';
import type { Board } from '../model/plan/board.ts';
import type { Planning, PlanReading } from '../model/plan.ts';
import { PROPOSAL, proposalSchema, readPlan, type Proposal } from '../model/plan/proposal.ts';
import type { RunReading } from './read-run.ts';

/** The plan that a person is asked about; undefined: the run asks about none. */
export function openProposal({ board, questions }: Pick<RunReading, 'board' | 'questions'>): Proposal | undefined {
  const proposal = proposalOn(board);
  if (proposal === undefined || !proposal.open) return undefined;
  return questions.some(({ id, recorded }) => id === proposal.question && recorded === null) ? proposal : undefined;
}

/** The plan that a person was asked about last; undefined: none. */
export function proposalOn({ records }: Pick<Board, 'records'>): Proposal | undefined {
  return proposalSchema.safeParse(records.get(PROPOSAL.in)?.get(PROPOSAL.id)).data;
}

/** A person's version of the plan, by the same checks as the planner's own. */
export function readEditedPlan({ board }: Pick<RunReading, 'board'>, planning: Planning, plan: unknown): PlanReading {
  return readPlan(planning, createView(board), plan);
}
