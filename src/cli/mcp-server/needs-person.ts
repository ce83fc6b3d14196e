import { proposalOn } from '../../view/proposed-plan.ts';
import type { RunReading } from '../../view/read-run.ts';
import { readPlanAnswer } from '../../model/plan/proposal.ts';

/** Who asks a question: an agent for a tool, a run about its plan, an agent about the work, or squad about the run. */
interface Asking {
  readonly asks: 'permission' | 'plan' | 'agent' | 'squad';
}

/** Whether this answer is a decision of a person: it lets tasks start, lets an agent use a tool, or decides on the run itself. */
export function needsPerson({ asks }: Asking, answer: string): boolean {
  switch (asks) {
    case 'agent':
      return false;
    case 'squad':
      return true;
    case 'permission':
      return answer.trim().toLowerCase() !== 'no';
    case 'plan':
      return ['approve', 'edited'].includes(readPlanAnswer(answer).say);
  }
}

/** undefined: there is no such question on the board. */
export function askingOn(board: Pick<RunReading['board'], 'questions' | 'records'>, id: string): Asking | undefined {
  const question = board.questions.get(id);
  if (question === undefined) return undefined;
  if (proposalOn(board)?.question === id) return { asks: 'plan' };
  return { asks: question.by === 'mail' ? 'agent' : 'squad' };
}
