import type { Command } from 'commander';
import type { CommandContext } from './command-context.ts';
import { addCommand, JSON_OBJECT, lazily } from './option-values.ts';

/** Commands about session folders. */
export function addSessionCommands(program: Command, context: CommandContext): void {
  const example = 'squad session check .workflow/.team/TC-login-2026-02-27';
  const session = addCommand(program, 'session', 'Check the session folder of a team.', example);
  addCommand(session, 'check', 'Check a session folder, and list all that is wrong with it. Change nothing.', example)
    .argument('[folder]', 'folder with team-session.json, task-analysis.json and roles/')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/session-check.ts')).sessionCheck));
}
