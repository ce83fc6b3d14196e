import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Composition } from '../../engine/compose.ts';
import { badInput, SquadError, errorText } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { isOwnSettings, type Surroundings } from '../../squad/preflight/starter-files.ts';
import { createGit } from '../../substrate/git/git-call.ts';
import { inspectRepository } from '../../substrate/git/inspect-repository.ts';
import { openCheckout } from '../../substrate/git/repository.ts';

/** Accepts a repository without a commit. Throws outside of a repository. */
export async function findRoot(
  { git: ports }: Composition,
  path: string,
): Promise<{ root: string; commonDirectory: string; hasCommit: boolean }> {
  const { root, commonDirectory } = await openCheckout(ports, path);
  // A branch without a commit, and not a commit that cannot be read.
  const head = await createGit(ports).run(['rev-parse', '--verify', '--quiet', 'HEAD'], { cwd: root });
  if (head.code !== 0) return { root, commonDirectory, hasCommit: false };
  const found = await inspectRepository(ports, path);
  return { root: found.root, commonDirectory: found.commonDirectory, hasCommit: true };
}

export async function lookAround({ git: ports }: Composition, root: string): Promise<Surroundings> {
  const names = await readdir(root);
  const text = async (name: string): Promise<string | undefined> => {
    if (!names.includes(name)) return undefined;
    // A folder of that name or an unreadable file counts as absent.
    return readFile(join(root, name), 'utf8').catch(() => undefined);
  };
  return {
    names,
    packageJson: await text('package.json'),
    makefile: await text('Makefile'),
    workspaces: await text('pnpm-workspace.yaml'),
    yarnSettings: await text('.yarnrc.yml'),
    ignored: await ignoredOf(ports, root, names.filter(isOwnSettings)),
  };
}

async function ignoredOf(ports: Composition['git'], root: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { stdout } = await createGit(ports).run(['check-ignore', '--', ...names], { cwd: root });
  return names.filter((name) => stdout.split('\n').includes(name)).toSorted();
}

/** A link could lead out of the repository. */
export async function refuseLinkedFolder(root: string, folder: string): Promise<void> {
  if (folder === '.') return;
  await refuseLinkedFolder(root, dirname(folder));
  const path = join(root, folder);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return;
  throw badInput(`${path} is no folder, and squad would write into it`, 'Move it away, then run the command again.');
}

/** False if the path exists, even as a dangling link. */
export async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    const next = 'Make room, or let your user write there.';
    throw new SquadError({ code: 'storage-refused', message: `${path}: ${errorText(error)}`, next, cause: error });
  }
}
