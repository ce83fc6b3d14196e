import type { CommandContext, JsonOptions } from './command-context.ts';
import { confirm } from './consent.ts';

/** Whether a person at this terminal can be asked. */
export function canOffer({ output }: Pick<CommandContext, 'output'>, { json }: JsonOptions): boolean {
  return output.terminal !== undefined && process.stdin.isTTY && json !== true;
}

/** Continues the run here if the person wants it: what they said takes effect only then. */
export async function offerResume(context: CommandContext, run: string, name = run): Promise<void> {
  if (!(await confirm(`Resume ${name} now?`, 'yes'))) return context.output.problem(`Next: squad resume ${name}`);
  await (await import('./commands/run.ts')).resume(context, run, {});
}
