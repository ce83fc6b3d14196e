// @module-tag all
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { some, SPREAD } from '../../../support/lane.ts';
import { canMount } from '../../../support/small-disk.ts';
import { removeFolders } from '../bench.ts';
import { expectFresh, openSpares, RUN, settle, tidyAll, type SpareBench } from './spare-bench.ts';

/** What is to be unmounted before anything is deleted. */
const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) unmountBelow(root);
  removeFolders();
});

const MOUNTABLE = canMount();
const title = (text: string): string => (MOUNTABLE ? text : `${text} (skipped: nothing can be mounted here)`);

/** What a task could leave mounted in its folder: a folder of the person's, the same files once more, a file, a disk of its own. */
const MOUNTS: Readonly<Record<string, (folder: string, persons: string) => string>> = {
  'a folder of the person': (folder, persons) => bind(persons, join(folder, 'node_modules')),
  'a folder of the person over one of the commit': (folder, persons) => bind(persons, join(folder, 'src/part-1')),
  'a folder on itself': (folder) => bind(join(folder, 'src/part-2'), join(folder, 'src/part-2')),
  'a file': (folder, persons) => bind(join(persons, 'letter.txt'), join(folder, 'src/part-1/file-1.ts')),
  'a disk': (folder) => {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'src/part-3')]);
    return join(folder, 'src/part-3');
  },
};

function bind(from: string, to: string): string {
  if (!existsSync(to)) mkdirSync(to, { recursive: true });
  execFileSync('mount', ['--bind', from, to]);
  return to;
}

/** All that is mounted below a folder, wherever that was moved to. */
function unmountBelow(folder: string): void {
  const table = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const places = table.flatMap((line) => line.split(' ')[4] ?? []);
  for (const place of places.toReversed())
    if (place.startsWith(`${folder}/`)) execFileSync('umount', ['--lazy', place]);
}

async function openMounted(mount: (folder: string, persons: string) => string) {
  const bench: SpareBench = await openSpares();
  roots.push(bench.root);
  const persons = join(bench.root, 'persons');
  mkdirSync(join(persons, 'deep'), { recursive: true });
  writeFileSync(join(persons, 'letter.txt'), 'dear\n');
  writeFileSync(join(persons, 'deep/letter.txt'), 'dear\n');
  const folder = await bench.spare.addFolder({ run: RUN, task: 'one', commit: bench.report.head });
  await settle();
  const place = mount(folder.workspace.path, persons);
  return { bench, persons, folder, place };
}

describe.skipIf(!MOUNTABLE)(title('what a task leaves mounted in its folder'), () => {
  it.each(some(Object.entries(MOUNTS), 0, 3))(
    '%s: is never emptied, and reaches no other task',
    SPREAD,
    async (_name, mount) => {
      const { bench, persons, folder, place } = await openMounted(mount);
      const refused = await bench.spare.removeFolder(folder, 'one-1');
      expect(refused).toMatchObject({ type: 'refused', reason: 'not-deleted' });
      expect(JSON.stringify(refused)).toContain(place);
      await tidyAll(bench);
      for (const name of ['letter.txt', 'deep/letter.txt'])
        expect(readFileSync(join(persons, name), 'utf8')).toBe('dear\n');
      await expectFresh(bench, 'two');
      execFileSync('umount', [place]);
      expect(await bench.spare.removeFolder(folder, 'one-1')).toMatchObject({ type: 'removed' });
      await tidyAll(bench);
      await expectFresh(bench, 'three');
      expect(readFileSync(join(persons, 'letter.txt'), 'utf8')).toBe('dear\n');
    },
  );
});
