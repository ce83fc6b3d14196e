import type { Command } from 'commander';
import { openMachine } from '../../engine/machine.ts';
import { lookIn, openWorkspace } from '../../squad/open-workspace.ts';
import { drivenRun } from '../../view/driven.ts';
import { readRun } from '../../view/read-run.ts';
import type { CommandContext } from '../command-context.ts';
import { candidatesFor, matching, type KnownNames } from '../completion/candidates.ts';

const UNKNOWN: KnownNames = { runs: [], tasks: [], agents: [] };

/** Prints what can complete the last of the words, one a line. The scripts of `squad completion` start this. */
export async function complete(context: CommandContext, program: Command, words: readonly string[]): Promise<void> {
  const candidates = candidatesFor(program, words);
  const known = candidates.names.length === 0 ? UNKNOWN : await knownNames(context, words);
  for (const word of matching(candidates, known, words.at(-1) ?? '')) context.output.line(word);
}

/** A shell that completes a word is no place for errors. */
async function knownNames({ host }: CommandContext, words: readonly string[]): Promise<KnownNames> {
  try {
    const workspace = await openWorkspace({ host, composition: openMachine(host) });
    const known = lookIn(workspace, (ledger, lockedBy) => {
      const runs = ledger.runs().map(({ name }) => name);
      // A run that the line names has its own tasks.
      const named = words.slice(1, -1).find((word) => runs.includes(word));
      const { board, definition } = readRun(ledger, named ?? drivenRun(ledger, lockedBy), lockedBy);
      return { runs, tasks: [...board.tasks.keys()], agents: definition.agents.map(({ name }) => name) };
    });
    return known ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
