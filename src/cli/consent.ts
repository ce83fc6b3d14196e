import { createInterface } from 'node:readline/promises';
import type { TrustOption } from '../squad.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext, JsonOptions } from './command-context.ts';
import type { Output } from './output.ts';

type Asking = Extract<TrustOption['trust'], (...given: never[]) => unknown>;

/** `--yes`, or else a person at the terminal agrees to the commands of a run. undefined: no person can. */
export function trustOf(
  { output }: CommandContext,
  { yes, json }: JsonOptions & { readonly yes?: boolean },
): TrustOption['trust'] {
  if (yes === true) return 'yes';
  return process.stdin.isTTY && json !== true ? askAt(output) : undefined;
}

/** Shows every command with its source. Only `y` or `yes` counts as consent. */
function askAt(output: Output): Asking {
  return async (items) => {
    output.problem('The objective or the repository wants to run these commands on this machine:');
    for (const { from, run, where } of items) output.problem(`  ${where}: ${from}: ${plainLine(run, 4096)}`);
    return confirm('Allow exactly these commands, now and in later runs?');
  };
}

/** Asks the person at the terminal. Anything but `y` or `yes` is a no. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(?:y|yes)$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
