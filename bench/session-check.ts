import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkFolder } from '../src/squad/sources/session/read-session.ts';
import { writeSession, type SessionAbout } from '../test/support/session-folder.ts';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';

const FILES = 200;
const TASKS = 2000;
const TIMES = 7;

/** What stands before the start of a session, and behind `squad session check`. */
export const sessionCheck: Bench = {
  name: 'session-check',
  run: async (folder) => {
    const many = await timesOf(writeSession(join(folder, 'files'), aboutOf(100, FILES)));
    const large = await timesOf(writeSession(join(folder, 'tasks'), aboutOf(TASKS, 10)));
    return [
      rowOf(`a session of ${FILES} files, read and checked, against reading them`, 'ms', many.squad, many.bare, {
        target: { of: 'squad', most: 1000 },
      }),
      rowOf(`a session of ${TASKS} tasks, the same`, 'ms', large.squad, large.bare, {
        target: { of: 'squad', most: 1000 },
      }),
    ];
  },
};

/** Each task needs the two before it; artifacts of 8 KiB make up the number of files. */
function aboutOf(tasks: number, files: number): SessionAbout {
  const id = (index: number): string => `T-${index}`;
  return {
    roles: [{ name: 'writer' }],
    tasks: Array.from({ length: tasks }, (_, index) => ({
      id: id(index),
      role: 'writer',
      needs: [index - 1, index - 2].filter((need) => need >= 0).map(id),
    })),
    files: Object.fromEntries(
      Array.from({ length: files - 8 }, (_, index) => [`artifacts/a-${index}.md`, '# A\n\n'.padEnd(8192, 'word ')]),
    ),
  };
}

async function timesOf(folder: string): Promise<{ readonly squad: number; readonly bare: number }> {
  const squad: number[] = [];
  const bare: number[] = [];
  for (let index = 0; index < TIMES; index += 1) {
    squad.push(
      await milliseconds(async () => {
        const check = await checkFolder(folder, '/');
        if (!check.ok) throw new Error(check.first);
      }),
    );
    bare.push(await milliseconds(() => readAll(folder)));
  }
  return { squad: median(squad), bare: median(bare) };
}

function readAll(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) readFileSync(path, 'utf8');
  }
}
