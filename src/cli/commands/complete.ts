import type { Command } from 'commander';
import { openMachine } from '../../engine/machine.ts';
import { lookIn, openWorkspace } from '../../squad/open-workspace.ts';
import { drivenRun } from '../../view/driven.ts';
import { readRun } from '../../view/read-run.ts';
import type { CommandContext } from '../command-context.ts';
import { candidatesFor, matching, type KnownNames, type Source } from '../completion/candidates.ts';

const UNKNOWN: KnownNames = { runs: [], tasks: [], agents: [], requests: [], roles: [], occasions: [] };
const OF_PROMPTS: readonly Source[] = ['roles', 'occasions'];

/** Prints what can complete the last of the words, one a line. The scripts of `squad completion` start this. */
export async function complete(context: CommandContext, program: Command, words: readonly string[]): Promise<void> {
  const candidates = candidatesFor(program, words);
  const known = await knownNames(context, candidates.names, words);
  for (const word of matching(candidates, known, words.at(-1) ?? '')) context.output.line(word);
}

async function knownNames(
  context: CommandContext,
  names: readonly Source[],
  words: readonly string[],
): Promise<KnownNames> {
  if (names.length === 0) return UNKNOWN;
  if (names.includes('requests')) return { ...UNKNOWN, requests: await openRequests(context) };
  return names.some((one) => OF_PROMPTS.includes(one)) ? promptsFor(words) : ofLedger(context, words);
}

async function promptsFor(words: readonly string[]): Promise<KnownNames> {
  const { promptNames } = await import('../../squad/repository-prompts.ts');
  const names = promptNames();
  const rolesOf = (some: readonly string[]): string[] => some.flatMap((name) => name.split('/', 1));
  const role = words.slice(1, -1).findLast((word) => rolesOf(names).includes(word));
  return {
    ...UNKNOWN,
    roles: words.at(-1)?.includes('/') === true ? names : rolesOf(names),
    occasions: names.flatMap((name) => (name.startsWith(`${role}/`) ? name.split('/').slice(1) : [])),
  };
}

/** Only those that are not over: a team has many. */
async function openRequests(context: CommandContext): Promise<string[]> {
  const { listRequests } = await import('../../squad/team/list-requests.ts');
  const all = await listRequests(context).catch(() => []);
  return all.filter(({ next }) => next !== null).map(({ id }) => id);
}

/** A shell that completes a word is no place for errors. */
async function ofLedger({ host }: CommandContext, words: readonly string[]): Promise<KnownNames> {
  try {
    const workspace = await openWorkspace({ host, composition: openMachine(host) });
    const known = lookIn(workspace, (ledger, lockedBy) => {
      const runs = ledger.runs().map(({ name }) => name);
      // A run that the line names has its own tasks.
      const named = words.slice(1, -1).find((word) => runs.includes(word));
      const { board, definition } = readRun(ledger, named ?? drivenRun(ledger, lockedBy), lockedBy);
      const agents = definition.agents.map(({ name }) => name);
      return { ...UNKNOWN, runs, tasks: [...board.tasks.keys()], agents };
    });
    return known ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
