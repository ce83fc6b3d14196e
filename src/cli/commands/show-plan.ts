import { estimateFor } from '../../squad/estimate.ts';
import type { RunHistory } from '../../view/read-run.ts';
import { askedPlan } from '../../view/asked-plan.ts';
import { proposalOn } from '../../view/proposed-plan.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { readPlanAnswer, type ProposedPlan } from '../../model/plan/proposal.ts';
import { planLines } from '../ask/plan-lines.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { printPaged } from '../print-paged.ts';

/** Answers of planners, by the names of their schemas. */
const PLANS: ReadonlySet<string> = new Set(['plan', 'plan-with-criteria']);

/** Shows the plan that a run asks about, or asked about last; of a run that asked about none, its tasks as they are. */
export async function showPlan(context: CommandContext, options: Options<'show'>): Promise<void> {
  const target = await openTarget(context, { run: options.run, kinds: 'run or task' });
  const { reading } = target;
  const { row, definition, limits, board } = reading;
  const proposal = proposalOn(board);
  const shown = proposal ?? plannedOn(reading);
  const asked = proposal === undefined ? undefined : board.questions.get(proposal.question);
  const estimate = await estimateFor(context, { playbook: definition.playbook, except: row.id });
  if (options.json === true) {
    const plan = { ...askedPlan(shown, { definition, limits }), estimate };
    const question = proposal === undefined ? null : { id: proposal.question, answer: asked?.answer ?? null };
    return context.output.json({ type: 'plan', runId: row.id, name: row.name, question, plan });
  }
  const { style, columns } = context.output;
  const about = { definition, limits, estimate, columns: columns(), style };
  const lines = shown.tasks.length === 0 ? [`${row.name} has planned no task.`] : planLines(shown, about);
  await printPaged(context, options, [...lines, '', ...standLines(target, asked)]);
}

/** Without the planning itself, and with the criteria that came with the plan. */
function plannedOn({ board, definition }: RunHistory): ProposedPlan {
  const own = new Set(definition.objective.criteria.map(({ text }) => text));
  const tasks = [...board.tasks.values()].map(({ task }) => task);
  return {
    summary: '',
    tasks: tasks.filter(({ owner, output }) => owner === undefined && !PLANS.has(output?.schema ?? '')),
    criteria: board.facts.objective.criteria.flatMap(({ text, command, proposed }) =>
      own.has(text) ? [] : [{ text, ...defined({ command: command ?? proposed }) }],
    ),
  };
}

type Asked = ReturnType<RunHistory['board']['questions']['get']>;

/** Whether a person has decided, and what to do next. */
function standLines({ reading: { row, questions } }: OpenedTarget, asked: Asked): string[] {
  const { name } = row;
  if (asked === undefined) return [`No person was asked about it. Tasks and turns: squad show ${name}`];
  const recorded = asked.answer ?? questions.find(({ id }) => id === asked.id)?.recorded ?? null;
  if (recorded === null) {
    const answer = `squad answer ${plainLine(asked.id, 80)}`;
    return ['It waits for you:', `  ${answer} approve`, `  ${answer} --edit`, `  ${answer} "what to change"`];
  }
  const said = readPlanAnswer(recorded).say === 'edited' ? 'your version of the plan' : plainLine(recorded, 200);
  return [`${plainLine(asked.id, 80)} was answered: ${said}. Tasks and turns: squad show ${name}`];
}
