import { createInterface } from 'node:readline/promises';
import type { TrustItem } from '../preflight/trust.ts';
import type { CommandContext } from './command-context.ts';
import { plainLine } from '../text/plain-text.ts';

/** Shows every command with where it comes from, and takes nothing but a clear yes for one. */
export async function confirmTrust({ output }: CommandContext, items: readonly TrustItem[]): Promise<boolean> {
  output.problem('These commands come from the objective or the repository, and will run on this machine:');
  for (const { from, run: command, where } of items) output.problem(`  ${where}: ${from}: ${plainLine(command, 4096)}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question('Run them, now and whenever they are exactly these? [y/N] ');
    return /^(?:y|yes)$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
