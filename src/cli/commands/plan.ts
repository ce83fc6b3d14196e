import { reviewRoles } from '../../model/plan/task.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { RunEnd } from '../../view/running-run.ts';
import { openProposal } from '../../view/proposed-plan.ts';
import { squadOn } from '../../squad/squad.ts';
import { openRun } from '../../squad/open-run.ts';
import { readPrompts } from '../../squad/prompts.ts';
import { estimateFor } from '../../squad/estimate.ts';
import { defined } from '../../text/defined.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { planLines } from '../ask/plan-lines.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { readArgument } from '../read-objective.ts';
import { refuseRepeat } from '../refuse-repeat.ts';
import { createLines } from '../render/event-lines.ts';
import { printEnd, untilEnd } from './show-run.ts';

/** Runs an objective until its plan waits for approval, and prints the plan. Exit 0 then. */
export async function plan(context: CommandContext, given: string, options: Options<'plan'>): Promise<void> {
  const { host, output, logLevel } = context;
  const objective = await readArgument(context, given);
  const { json } = options;
  const request = newRunOf(context, options);
  if (options.prompts === true) return showPrompts(context, await readPrompts({ host }, objective, request), options);
  await refuseRepeat(context, objective, options);
  const lineOf = createLines(logLevel(), undefined);
  const onEvent = (event: RunEvent): void => {
    const line = json === true ? undefined : lineOf(event);
    if (line !== undefined) output.line(line);
  };
  const running = await squadOn(host).run(objective, { ...request, plan: 'ask', onEvent });
  await untilEnd(output, running, { name: 'the run' }, async (end, signal) => {
    if (end.outcome === 'waiting' && (await showPlan(context, end, options))) return;
    printEnd(context, end, signal, json === true);
  });
}

/** false: the run waits for something else. */
async function showPlan(
  { host, output }: CommandContext,
  { runId }: RunEnd,
  options: Options<'plan'>,
): Promise<boolean> {
  const { reading } = await openRun({ host }, runId);
  const proposal = openProposal(reading);
  if (proposal === undefined) return false;
  const { question, summary, tasks, criteria } = proposal;
  const { row, definition, limits } = reading;
  const next = [
    `squad resume ${row.name}`,
    `squad answer ${question} approve`,
    `squad answer ${question} "what to change"`,
  ];
  const shown = tasks.map((task) => ({
    ...{ id: task.id, title: task.title, role: task.role, needs: task.needs, brief: task.brief.text },
    ...defined({ agent: task.agent, review: task.review === undefined ? undefined : reviewRoles(task) }),
  }));
  const estimate = await estimateFor({ host }, { playbook: definition.playbook, except: row.id });
  const found = { type: 'plan', runId, name: row.name, question, summary, tasks: shown, criteria, estimate, next };
  const lines = planLines(proposal, {
    ...{ definition, limits, estimate, columns: output.columns(), style: output.style },
  });
  printResult(output, options, found, [
    '',
    ...lines,
    '',
    `Nothing of it has started. Next: ${next[0] ?? ''} shows it and asks you, or answer now:`,
    ...next.slice(1).map((command) => `  ${command}`),
  ]);
  return true;
}

function showPrompts(
  { output }: CommandContext,
  { name, agents, prompts }: Awaited<ReturnType<typeof readPrompts>>,
  options: Options<'plan'>,
): void {
  const title = (text: string): string => output.style('bold', plainLine(text, 200));
  printResult(output, options, { type: 'prompts', name, agents, prompts }, [
    ...agents.flatMap(({ name: agent, role, runtime, model, equipment, instructions }) => [
      title(`Instructions of ${agent} (${role}, ${runtime}${model === undefined ? '' : ` ${model}`})`),
      ...(equipment === undefined ? [] : [`It has ${plainLine(equipment.join(', '), 1000)}.`, '']),
      plainText(instructions),
      '',
    ]),
    ...prompts.flatMap(({ role, about, prompt }) => [
      title(`First prompt for ${role}: ${about}`),
      plainText(prompt),
      '',
    ]),
    'No agent has started, and no run exists. `<…>` stands for what only the plan or the work can say.',
  ]);
}
