import { createInterface } from 'node:readline/promises';
import type { TrustItem } from '../preflight/trust.ts';
import type { CommandContext } from './command-context.ts';
import { plainLine } from '../text/plain-text.ts';

/** Shows every command with its source. Only `y` or `yes` counts as consent. */
export async function confirmTrust({ output }: CommandContext, items: readonly TrustItem[]): Promise<boolean> {
  output.problem('The objective or the repository wants to run these commands on this machine:');
  for (const { from, run: command, where } of items) output.problem(`  ${where}: ${from}: ${plainLine(command, 4096)}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question('Allow exactly these commands, now and in later runs? [y/N] ');
    return /^(?:y|yes)$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
