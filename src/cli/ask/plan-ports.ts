import type { OpenedRun } from '../../squad/open-run.ts';
import { checkEditedPlan } from '../../squad/plan-question.ts';
import { estimateFor } from '../../squad/estimate.ts';
import { writeRunFile } from '../../substrate/system/files/run-files.ts';
import { runInTerminal } from '../../substrate/system/process/run-in-terminal.ts';
import type { CommandContext } from '../command-context.ts';
import type { AskPlanPorts } from './ask-plan.ts';
import { editorCommand } from './edit-plan.ts';
import { planLines } from './plan-lines.ts';

/** The ports for asking about the plan of a run at this terminal. */
export async function planPorts(
  { host, output }: Pick<CommandContext, 'host' | 'output'>,
  opened: OpenedRun,
): Promise<Omit<AskPlanPorts, 'prompts' | 'say'>> {
  const { definition, limits } = opened.reading;
  const about = { playbook: definition.playbook, except: opened.reading.row.id };
  const estimate = await estimateFor({ host }, about);
  return {
    stateDirectory: opened.composition.git.stateDirectory,
    show: (plan) => {
      const shown = { definition, limits, estimate, columns: process.stderr.columns, style: output.style };
      for (const line of ['', ...planLines(plan, shown), '']) output.problem(line);
    },
    check: async (plan) => checkEditedPlan(opened, plan),
    keep: (written) => writeRunFile(opened.directory, opened.reading.row.id, 'plan.yaml', written),
    edit: async (path) => {
      const { code, problem } = await runInTerminal(editorCommand(host.environment, path), {
        kind: 'editor',
        environment: host.environment,
      });
      return problem ?? (code === 0 ? undefined : `the editor ended with ${code ?? 'a signal'}`);
    },
  };
}
