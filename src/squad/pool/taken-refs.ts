import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { deleteRefs } from '../../substrate/git/squad-refs.ts';
import type { GitPorts } from '../../substrate/git/git-call.ts';
import { refsIn } from '../../substrate/git/run-bundle.ts';
import { isOwnerAlive, ownerSchema, ownOwner } from '../../substrate/system/process/owner.ts';
import { parseJson } from '../../text/json.ts';

const FILE = 'refs.json';

const noteSchema = z.object({
  /** The command for which they are there. */
  owner: ownerSchema,
  commonDirectory: z.string(),
  /** Runs whose refs it brings. */
  runs: z.array(z.string()),
  /** Refs of runs that were there before. */
  before: z.array(z.string()),
});

const OF_RUNS = ['refs/squad/', 'refs/heads/squad/'];

/** Notes in a view's folder which refs of runs the repository has, so that those which a command brings can be removed after it. */
export async function noteRefs(
  ports: GitPorts,
  commonDirectory: string,
  { folder, runs }: { readonly folder: string; readonly runs: readonly string[] },
): Promise<void> {
  const before = await refsIn(ports, { commonDirectory }, OF_RUNS);
  const note = { owner: ownOwner(), commonDirectory, runs: [...runs], before: before.map(({ ref }) => ref) };
  await writeFile(join(folder, FILE), JSON.stringify(note satisfies z.infer<typeof noteSchema>), { mode: 0o600 });
}

/** Whether the command that made a view is gone. */
export async function isLeft(folder: string): Promise<boolean> {
  const note = await readNote(folder);
  return note === undefined || !isOwnerAlive(note.owner);
}

/** Removes the refs of its runs that came after the note. They are at the remote, too. */
export async function dropTaken(ports: GitPorts, folder: string): Promise<void> {
  const note = await readNote(folder);
  if (note === undefined) return;
  const { commonDirectory } = note;
  const before = new Set(note.before);
  const names = note.runs.flatMap((run) => [`refs/squad/${run}/`, `refs/heads/squad/${run}`]);
  const found = await refsIn(ports, { commonDirectory }, names).catch(() => []);
  // One at a time: a branch that a person has checked out meanwhile stays, and the others go.
  for (const one of found) if (!before.has(one.ref)) await deleteRefs(ports, { commonDirectory }, [one]);
}

async function readNote(folder: string): Promise<z.infer<typeof noteSchema> | undefined> {
  const text = await readFile(join(folder, FILE), 'utf8').catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data;
}
