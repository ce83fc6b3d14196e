import type { Command } from 'commander';
import { openMachine } from '../../engine/machine.ts';
import { workspaceIn } from '../../squad/open-run.ts';
import { drivenRun, readRun } from '../../view/read-run.ts';
import { hasLedger, openLedger } from '../../substrate/ledger/index.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
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
    const { directory, composition } = await workspaceIn({ host, composition: openMachine(host) });
    if (!hasLedger(directory)) return UNKNOWN;
    const lockedBy = probeLock(directory);
    const ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
    try {
      const runs = ledger.runs().map(({ name }) => name);
      // A run that the line names has its own tasks.
      const named = words.slice(1, -1).find((word) => runs.includes(word));
      const { board, definition } = readRun(ledger, named ?? drivenRun(ledger, lockedBy), lockedBy);
      return { runs, tasks: [...board.tasks.keys()], agents: definition.agents.map(({ name }) => name) };
    } finally {
      ledger.close();
    }
  } catch {
    return UNKNOWN;
  }
}
