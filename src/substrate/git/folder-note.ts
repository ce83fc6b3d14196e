import { constants } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { workspaceSchema } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import { parseJson } from '../../text/json.ts';
import { isCommitId } from './git-call.ts';
import { folderPath, notePath, type GitContext } from './git-context.ts';
import type { TaskFolder } from '../ports/workspaces.ts';

/** The task names of folders in which only the engine works. No task can have them. */
export const INTEGRATION = '_integration';
export const BASELINE = '_baseline';
export const ENGINE_FOLDERS: readonly string[] = [INTEGRATION, BASELINE];

const commit = z.string().refine(isCommitId);
const noteSchema = z.object({
  run: z.string(),
  task: z.string(),
  base: commit,
  workspace: workspaceSchema,
  resetFor: z.string().optional(),
  remade: z.number().int().optional(),
  /** Where HEAD was when the folder was removed, because a power cut may have damaged it. */
  left: commit.optional(),
});

type FolderNote = z.infer<typeof noteSchema>;

/** undefined: no such folder, or an unfinished one. */
export async function readNote(context: GitContext, run: string, task: string): Promise<FolderNote | undefined> {
  // A pipe in its place would let this process wait for ever; it is read as empty.
  const reading = { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK } as const;
  const text = await readFile(notePath(context, run, `${task}.json`), reading).catch(() => undefined);
  if (text === undefined) return undefined;
  const note = noteSchema.parse(JSON.parse(text));
  // The state folder can be moved.
  return { ...note, workspace: { ...note.workspace, path: folderPath(context, run, task) } };
}

/** undefined: a power cut damaged the note. */
export function readLeftNote(text: string): FolderNote | undefined {
  return noteSchema.safeParse(parseJson(text)).data;
}

/** Writes the note about a folder by rename, so that it is complete or absent. */
export async function noteDown(context: GitContext, folder: FolderNote): Promise<TaskFolder> {
  const note = notePath(context, folder.run, `${folder.task}.json`);
  await writeFile(`${note}.new`, `${JSON.stringify(folder)}\n`, { mode: 0o600 });
  await rename(`${note}.new`, note);
  return defined(folder);
}

/** Which filling of a folder it is: another one each time that it is moved, reset or made again. */
export function fillingOf({ base, resetFor = '', remade = 0 }: TaskFolder): string {
  return `${base} ${resetFor} ${remade}`;
}
