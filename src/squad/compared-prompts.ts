import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError } from '../model/errors.ts';
import type { RunDefinition } from '../model/run.ts';
import { PROMPT_NAMES } from '../prompts/read-change.ts';
import { PROMPTS } from '../prompts/shipped.ts';
import { plainLine } from '../text/plain-text.ts';
import type { Side } from '../view/comparison.ts';
import { sourceIn } from './folder-runs.ts';
import { checkNewRun, type NewRunOptions } from './new-run.ts';
import { openWorkspace, type Place } from './open-workspace.ts';
import { findPrompts } from './preflight/changed-prompts.ts';
import { problemError } from './preflight/read-input.ts';
import type { Named } from './sources/source-of.ts';

/** Stands for squad's own prompts, where a folder could stand. */
const SHIPPED = 'shipped';

/** The prompts that one side of a comparison plays with. */
export interface SidePrompts {
  readonly prompts: string;
  readonly bodies: Readonly<Record<string, string>>;
  /** As a run with these prompts would be defined. */
  readonly definition: RunDefinition;
}

export type Sides = Readonly<Record<Side, SidePrompts>>;

/** Options of the runs. */
export type ComparedOptions = Omit<NewRunOptions, 'plan' | 'prompts'>;

/** Checks all that a run with each of these prompts is checked for, before there is any. Throws the first problem. */
export async function readSides(
  place: Place,
  objective: Named,
  folders: readonly [string, string],
  request: ComparedOptions,
): Promise<Sides> {
  const workspace = await openWorkspace(place);
  const sideOf = async (prompts: string): Promise<SidePrompts> => {
    const bodies = await readFolder(place.host.workingDirectory, prompts);
    const asked = { ...request, prompts: bodies };
    const { definition } = await checkNewRun(workspace, sourceIn(workspace, objective), asked);
    return { prompts, bodies, definition };
  };
  const sides = { A: await sideOf(folders[0]), B: await sideOf(folders[1]) };
  if (sides.A.definition.promptHash !== sides.B.definition.promptHash) return sides;
  throw usageError(
    'both sides have the same prompts',
    'Change a prompt of one of them: `squad prompts eject` writes one.',
  );
}

/** All of squad's prompts, with those of the folder in their place, so that nothing of the repository's own is among them. */
async function readFolder(workingDirectory: string, folder: string): Promise<Record<string, string>> {
  const own = Object.fromEntries(PROMPT_NAMES.map((name) => [name, PROMPTS[name].body]));
  if (folder === SHIPPED) return own;
  const path = resolve(workingDirectory, folder);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const found = isFolder ? await findPrompts(dirname(path), basename(path)) : [];
  const problems = found
    .flatMap(({ read }) => (read.ok ? [] : read.problems))
    // Named from where the person is, as the folder was.
    .map((one) => ({ ...one, file: join(dirname(folder), one.file) }));
  if (problems.length > 0) throw problemError(problems, 'Correct it, or leave it out to use squad’s own.');
  if (found.length === 0) {
    throw usageError(
      `${plainLine(folder, 200)} has no prompts`,
      `Name a folder with \`<role>/<occasion>.md\`, such as squad/prompts, or \`${SHIPPED}\` for squad’s own.`,
    );
  }
  return {
    ...own,
    ...Object.fromEntries(found.flatMap(({ name, read }) => (read.ok ? [[name, read.value.body]] : []))),
  };
}

/** The parent's definition with the prompts of a side, and with all that was written with them. */
export function withPrompts(parent: RunDefinition, { definition }: SidePrompts): RunDefinition {
  const { prompts: _, ...others } = parent;
  const { prompts, promptHash, agents, options } = definition;
  return { ...others, ...(prompts === undefined ? {} : { prompts }), promptHash, agents, options };
}
