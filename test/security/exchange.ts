import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openConfined } from '../../src/substrate/system/files/open-confined.ts';
import { removeTree } from '../../src/substrate/system/files/remove-tree.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/security/exchanges.mjs', import.meta.url));

/** Another process that exchanges a folder, and a file in it, for links outside and back, as fast as it can. */
export async function openExchange(root: string, outside: string): Promise<{ close(): Promise<void> }> {
  const child = fork(PROGRAM, ['read', root, outside]);
  await once(child, 'message');
  return { close: async () => end(child) };
}

export interface ReadRounds {
  readonly rounds: number;
  readonly inside: number;
  readonly outside: number;
  readonly refused: number;
}

/** Reads `folder/secret.md` and `folder/file.md` in turns. Whatever holds SECRET came from outside. */
export async function readRounds(root: string, rounds: number): Promise<ReadRounds> {
  const seen = { rounds: 0, inside: 0, outside: 0, refused: 0 };
  for (; seen.rounds < rounds; seen.rounds += 1) {
    const text = await readOnce(root, seen.rounds % 2 === 0 ? 'folder/file.md' : 'folder/secret.md');
    if (text === undefined) seen.refused += 1;
    else if (text.includes('SECRET')) seen.outside += 1;
    else seen.inside += 1;
  }
  return seen;
}

async function readOnce(root: string, path: string): Promise<string | undefined> {
  try {
    const opened = await openConfined(root, path);
    if (opened.type === 'refused') return undefined;
    try {
      return await opened.file.readFile('utf8');
    } finally {
      await opened.file.close();
    }
  } catch {
    // Exchanged under the look: there was nothing, a link, or another kind of thing.
    return undefined;
  }
}

/** Deletes trees whose folders another process exchanges for links to a folder outside. */
export async function removeRounds(
  room: string,
  rounds: number,
  remove: (path: string) => Promise<void> = removeTree,
): Promise<{ lost: string[]; exchanged: number }> {
  const outside = join(room, 'precious');
  mkdirSync(outside);
  const names = Array.from({ length: 6 }, (_item, index) => `file-${index}`);
  for (const name of names) writeFileSync(join(outside, name), name);
  const template = join(room, 'template');
  for (let index = 0; index < 24; index += 1) {
    mkdirSync(join(template, `folder-${index}`), { recursive: true });
    for (const name of names) writeFileSync(join(template, `folder-${index}`, name), name);
  }
  const child = fork(PROGRAM, ['remove', outside]);
  await once(child, 'message');
  let exchanged = 0;
  const lost = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const tree = join(room, `tree-${round}`);
    cpSync(template, tree, { recursive: true });
    const told = once(child, 'message');
    child.send(tree);
    // What is exchanged may stand in the way in the end; what matters is what is still outside.
    await remove(tree).catch(() => undefined);
    exchanged += Number((await told)[0]);
    for (const name of names) if (!existsSync(join(outside, name))) lost.add(name);
    rmSync(tree, { recursive: true, force: true });
    for (const name of readdirSync(room)) {
      if (name.startsWith('moved-')) rmSync(join(room, name), { recursive: true, force: true });
    }
  }
  await end(child);
  return { lost: [...lost], exchanged };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
