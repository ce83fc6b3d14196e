import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunRoom } from './run-room.ts';
import { leave, settings, type Scenario } from './scenario-parts.ts';
import { DIAMOND, workers } from './session-folder.ts';

/** Of the room's repository. */
const FOLDER = '.workflow/.team/TC-make-things-2026-02-27';

/** Until a shell command succeeds. */
function until(command: string, ...more: readonly string[]): { run: string[] } {
  return { run: ['/bin/sh', '-c', `until ${command}; do sleep 0.05; done`, ...more] };
}

/**
 * A diamond whose branches are worked on at the same time, and always end in the same order: the writer waits for the second
 * task of the inner loop to begin, and that for the writer's work to be on the run branch.
 */
export const SESSION: Scenario = {
  name: 'session',
  session: { folder: FOLDER, about: DIAMOND },
  settings: (script, effects) => settings([{ name: 'analyst', role: 'analyst', access: 'read-only' }], script, effects),
  script: (effects) => {
    const repository = join(dirname(effects), 'repository');
    const waits: Readonly<Record<string, { run: string[] }>> = {
      'DOC-001': until('grep -q "^IMPL-002 " "$0"', effects),
      'IMPL-002': until('git -C "$0" cat-file -e squad/make-things:doc-001.txt 2> /dev/null', repository),
    };
    return { turns: workers(DIAMOND, (task) => [leave(task, effects), ...[waits[task] ?? []].flat()]) };
  },
};

/** The files of the room's session folder, by their paths, but for times and ids. */
export function folderTexts(room: RunRoom): Readonly<Record<string, string>> {
  const folder = join(room.repository, FOLDER);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => !one.isDirectory())
    .map((one) => join(one.parentPath, one.name).slice(folder.length + 1));
  const run = room.reading()?.row.id ?? '';
  return Object.fromEntries(
    names.toSorted().map((name) => [name, alike(readFileSync(join(folder, name), 'utf8').replaceAll(run, '<run>'))]),
  );
}

/** Without times, commits, and the ids of messages and attempts. */
function alike(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b/g, '<commit>')
    .replaceAll(/\.[0-9a-f]{6}\./g, '.<run>.');
}
