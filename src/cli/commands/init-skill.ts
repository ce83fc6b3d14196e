import { lstatSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openMachine } from '../../engine/machine.ts';
import { badInput, usageError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { SETTINGS_FILE } from '../../squad/preflight/read-input.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { realPath } from '../../substrate/system/files/real-path.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { confirm } from '../consent.ts';
import { printResult } from '../output.ts';
import { SKILL, SKILL_FILES } from '../skill-text.ts';

type Outcome = 'wrote' | 'same' | 'kept';

/** Writes the skill for assistants. A file that a person has changed stays, unless they say at the terminal that it goes. */
export async function initSkill({ host, output }: CommandContext, options: Options<'init'>): Promise<void> {
  if (options.playbook !== undefined)
    throw usageError('--skill and --playbook cannot be given together', 'Run `squad init` once for each.');
  const { root } = await openCheckout(openMachine(host).git, host.workingDirectory);
  const asks = options.yes !== true && options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
  for (const name of SKILL_FILES) refuseOutside(root, name);
  const outcomes: [name: string, outcome: Outcome][] = [];
  for (const name of SKILL_FILES) outcomes.push([name, await writeSkill(join(root, name), asks)]);
  const named = (outcome: Outcome) => outcomes.flatMap(([name, one]) => (one === outcome ? [name] : []));
  const next = nextSteps(named('kept'), (await readIfThere(join(root, SETTINGS_FILE))) !== undefined);
  const found = { type: 'skill', root, written: named('wrote'), same: named('same'), kept: named('kept'), next };
  printResult(output, options, found, [
    ...outcomes.map(([name, outcome]) => `${SAID[outcome].padEnd(7)}${plainLine(join(root, name))}${MORE[outcome]}`),
    '',
    ...next.map((step) => `Next: ${step}`),
  ]);
}

const SAID = { wrote: 'wrote', same: 'kept', kept: 'kept' } as const;
const MORE = { wrote: '', same: '  (it is the same)', kept: '  (it was there, and is another one)' } as const;

function nextSteps(kept: readonly string[], isSetUp: boolean): string[] {
  return [
    ...(kept.length === 0
      ? []
      : [`to have squad’s own in place of ${kept.join(' and ')}, remove it and run this again`]),
    ...(isSetUp ? [] : ['set this repository up for squad: `squad init`']),
    'say to Claude Code or Codex what you want, for example: use squad to add a login form',
    'to give it tools in place of commands: `squad mcp-server --help`',
  ];
}

async function writeSkill(path: string, asks: boolean): Promise<Outcome> {
  const there = await readIfThere(path);
  if (there === SKILL) return 'same';
  if (there !== undefined && !(asks && (await confirm(`Replace ${plainLine(path)}, which is another one?`))))
    return 'kept';
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, SKILL);
    return 'wrote';
  } catch (error) {
    throw storageError(path, error);
  }
}

/** undefined: it is not there. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(path, error);
  }
}

/** A link on the way may lead to another folder of the repository, and to no other place. */
function refuseOutside(root: string, name: string): void {
  let place = join(root, name);
  while (lstatSync(place, { throwIfNoEntry: false }) === undefined) place = dirname(place);
  const real = realPath(place);
  if (real !== undefined && isWithin(realPath(root) ?? root, real)) return;
  throw badInput(`${plainLine(name)} leads out of the repository`, 'Take the link away, then run the command again.');
}
