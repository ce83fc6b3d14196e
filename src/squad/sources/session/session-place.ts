import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { badInput, errorText, wrongEnvironment } from '../../../model/errors.ts';
import { unwritableIn } from './read-session.ts';
import { slugOf } from '../../preflight/run-name.ts';
import { isWithin } from '../../../substrate/system/files/confine.ts';
import { exists } from '../../../substrate/system/files/exists.ts';
import { realPath } from '../../../substrate/system/files/real-path.ts';
import { plainLine } from '../../../text/plain-text.ts';
import { shellWord } from '../../../text/shell-word.ts';

/** Where a new session goes. */
export interface SessionPlace {
  /** Real and absolute. */
  readonly folder: string;
  /** As people name it from where they stand. */
  readonly shown: string;
  /** As everyone finds it who reads about the run, wherever they stand: below the top of the checkout, or absolute. */
  readonly named: string;
  readonly id: string;
  readonly team: string;
}

interface Wanted {
  readonly root: string;
  readonly workingDirectory: string;
  readonly title: string;
  /** Epoch ms. */
  readonly now: number;
  /** As the person wrote it; undefined: squad chooses. */
  readonly into: string | undefined;
}

/** Below the root of the repository. */
const SESSIONS = join('.workflow', '.team');

/** Throws `bad-input` for a folder that a new session cannot be in, and `wrong-environment` for one that cannot be written. */
export async function placeSession({ root, workingDirectory, title, now, into }: Wanted): Promise<SessionPlace> {
  const team = slugOf(title);
  const dated = `TC-${team}-${new Date(now).toISOString().slice(0, 10)}`;
  const absolute = into === undefined ? await freeFolder(join(root, SESSIONS, dated)) : resolve(workingDirectory, into);
  const id = into === undefined ? basename(absolute) : dated;
  const shown = into ?? shownFrom(workingDirectory, absolute);
  await refuseUnwritable(absolute, shown);
  const folder = realPath(absolute);
  if (folder === undefined || (into === undefined && !isWithin(realPath(root) ?? root, folder))) {
    throw badInput(
      `${plainLine(shown)} cannot hold a session: a link in its path leads to nothing, or out of the repository`,
      'Remove the link, or name another folder with `--into`.',
    );
  }
  return { folder, shown, named: shownFrom(realPath(root) ?? root, folder), id, team };
}

/** Relative only to a folder above it. */
function shownFrom(above: string, folder: string): string {
  return isWithin(above, folder) ? relative(above, folder) || folder : folder;
}

async function freeFolder(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!(await exists(name))) return name;
  }
}

type Place = Pick<SessionPlace, 'folder' | 'shown'>;

/** Throws for a folder in whose place a new session could not appear whole. */
export async function refuseFilled({ folder, shown }: Place, workingDirectory: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return;
  const name = plainLine(shown, Infinity);
  if (!found.isDirectory())
    throw badInput(`${name} is there already, and is no folder`, 'Name another one with `--into`.');
  if ((await readdir(folder)).length === 0) return refuseFixed({ folder, shown: name }, workingDirectory, found.dev);
  throw badInput(
    `${name} is there already, and is not empty`,
    `Let squad add what is missing with \`--into ${shellWord(name)} --resume\`, or name another folder.`,
  );
}

/** An empty folder that another one, made beside it, could not replace by a rename. `dev`: its file system. */
async function refuseFixed({ folder, shown }: Place, workingDirectory: string, dev: number): Promise<void> {
  if (isWithin(folder, realPath(workingDirectory) ?? workingDirectory)) {
    throw badInput(
      `${shown} is the folder that you are in, and squad would replace it by another one`,
      'Name a folder in it with `--into`, or run the command from another folder.',
    );
  }
  const parent = dirname(folder);
  await orUnwritable(shown, () => access(parent, constants.W_OK | constants.X_OK));
  if ((await stat(parent)).dev === dev) return;
  throw wrongEnvironment(
    `${shown} is where another disk is mounted, and squad cannot replace it`,
    'Name a folder in it with `--into`.',
  );
}

/** Limit of Linux and macOS. */
const MOST_BYTES_OF_A_NAME = 255;

/** The folder itself, or the nearest one above it that is there. */
async function refuseUnwritable(folder: string, shown: string): Promise<void> {
  let nearest = folder;
  while (!(await exists(nearest)) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  await orUnwritable(shown, async () => {
    if (folder.split('/').some((name) => Buffer.byteLength(name) > MOST_BYTES_OF_A_NAME))
      throw new Error(`a name in its path has more than ${MOST_BYTES_OF_A_NAME} bytes`);
    if (nearest === folder) return access(folder, constants.W_OK);
    if (!(await stat(nearest)).isDirectory()) throw new Error(`${nearest} is no folder`);
    await access(nearest, constants.W_OK | constants.X_OK);
  });
}

async function orUnwritable(shown: string, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    throw wrongEnvironment(
      `${plainLine(shown)} cannot be written: ${errorText(error)}`,
      'Name a folder that you can write with `--into`.',
    );
  }
}

/** Throws `wrong-environment` if what is missing in a session that was begun could not be added. */
export async function refuseReadOnly({ folder, shown }: Place): Promise<void> {
  const found = await unwritableIn(folder);
  if (found === undefined) return;
  throw wrongEnvironment(
    `${plainLine(join(shown, found.name), Infinity)} cannot be written: ${found.why}`,
    'Give yourself the right to write there, or copy the folder and name the copy with `--into`.',
  );
}
