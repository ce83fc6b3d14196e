import type { PlanReading } from '../../model/plan.ts';
import { readPlanAnswer, type Proposal } from '../../model/plan/proposal.ts';
import { plainJsonText } from '../../text/plain-text.ts';
import { editPlan, type EditPorts } from './edit-plan.ts';
import type { PlanShown } from './plan-lines.ts';
import type { Prompts } from './prompts.ts';

export interface AskPlanPorts extends Pick<EditPorts, 'edit' | 'check' | 'stateDirectory'> {
  readonly prompts: Prompts;
  /** Shows the plan. */
  show(plan: PlanShown): void;
  readonly say: (line: string) => void;
  /** Keeps what a person wrote, and says where. */
  keep(written: string): Promise<string>;
}

type Plan = Omit<Extract<PlanReading, { ok: true }>, 'ok'>;

const CHOICES = [
  { value: 'approve', label: 'Approve: the tasks start' },
  { value: 'edit', label: 'Edit it in your editor' },
  { value: 'change', label: 'Say what to change: the planner makes a new plan' },
  { value: 'stop', label: 'Stop: end the run without doing any of it' },
  { value: 'later', label: 'Later: leave the run waiting' },
] as const;

/** Asks about a plan at the terminal. The answer for the ledger; undefined: the person puts it off. `first`: what they chose before. */
export async function askPlan(
  proposal: Proposal,
  ports: AskPlanPorts,
  signal: AbortSignal,
  first?: 'edit',
): Promise<string | undefined> {
  const { prompts, say } = ports;
  let begin = first;
  let plan: Plan = proposal;
  let isEdited = false;
  let mine: string | undefined;
  const leave = async (): Promise<undefined> => {
    if (mine !== undefined) say(keptText(await ports.keep(mine), signal.aborted ? undefined : proposal.question));
  };
  if (first === undefined) ports.show(proposal);
  while (!signal.aborted) {
    const message = isEdited ? 'Start your version of the plan?' : 'Start this plan?';
    const choice = begin ?? (await prompts.choose(message, CHOICES, signal)) ?? 'later';
    begin = undefined;
    if (choice === 'approve') return isEdited ? plainJsonText(plan.answer) : 'approve';
    if (choice === 'later') return leave();
    if (choice === 'stop') {
      const sure = await prompts.choose('End the run? The planner’s work stays in its ledger.', SURE, signal);
      if (sure === 'yes') return 'stop';
    }
    if (choice === 'change') {
      const text = await prompts.write('What should be different?', signal, refuseOption);
      if (text !== undefined) return text;
    }
    if (choice === 'edit') {
      const again = async (problems: readonly string[]): Promise<boolean> => {
        say('This plan cannot be used:');
        for (const problem of problems) say(`  - ${problem}`);
        return (await prompts.choose('Edit it again?', EDIT_AGAIN, signal)) === 'yes';
      };
      const { edited, written, why } = await editPlan(plan.answer, { ...ports, again });
      mine = written ?? mine;
      if (why !== undefined) say(`The plan stays as it was: ${why}`);
      if (edited === undefined || signal.aborted) continue;
      plan = edited;
      isEdited = true;
      const { summary, tasks, criteria } = proposal;
      ports.show({ ...plan, before: { summary, tasks, criteria } });
    }
  }
  return leave();
}

/** `question`: the one that it can still answer. */
function keptText(path: string, question: string | undefined): string {
  const next = question === undefined ? '' : ` Answer with it: \`squad answer ${question} --file ${path}\`.`;
  return `Your version of the plan is kept in ${path}.${next}`;
}

const SURE = [
  { value: 'no', label: 'No, go back' },
  { value: 'yes', label: 'Yes, end it' },
] as const;
const EDIT_AGAIN = [
  { value: 'yes', label: 'Yes, with these problems at the top of the file' },
  { value: 'no', label: 'No, leave the plan as it was' },
] as const;

/** A text that squad would read as something else. */
function refuseOption(text: string): string | undefined {
  return readPlanAnswer(text).say === 'change'
    ? undefined
    : 'Say it in a sentence, or press Ctrl-C and choose it above.';
}
