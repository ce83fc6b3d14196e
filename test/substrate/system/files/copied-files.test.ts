import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CopiedFile } from '../../../../src/model/copied-file.ts';
import { keepCopies, putCopies, readCopy, takeOutCopies } from '../../../../src/substrate/system/files/copied-files.ts';
import { createRandom } from '../../../support/random.ts';
import { ALL } from '../../../support/lane.ts';

interface Place {
  readonly checkout: string;
  readonly kept: string;
  readonly folder: string;
  readonly outside: string;
}

function openPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-copies-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const place = { checkout: join(root, 'a'), kept: join(root, 'b'), folder: join(root, 'c'), outside: join(root, 'd') };
  for (const path of [place.checkout, place.folder, place.outside]) mkdirSync(path);
  writeFileSync(join(place.outside, 'own'), 'mine\n');
  return place;
}

async function readOne(root: string, path: string): Promise<CopiedFile> {
  const read = await readCopy(root, path);
  if (read.type === 'refused') throw new Error(`${path} ${read.why}`);
  return read.file;
}

/** One file in a checkout, read and kept. */
async function keepEnv({ checkout, kept }: Place): Promise<CopiedFile> {
  writeFileSync(join(checkout, '.env'), 'A=1\n');
  const file = await readOne(checkout, '.env');
  await keepCopies(checkout, kept, [file]);
  return file;
}

const NAMES = ['.env', 'a b/c', '-rf', '$(x)', 'ä/ö.local', `'"`, '.git-not/x', 'deep/er/and/deeper', '*'];

function replace(at: string, by: () => void): void {
  rmSync(at, { recursive: true, force: true });
  by();
}

/** Leaves something in the place of a file, as an agent or a check may. */
const SPOILS: readonly ((at: string, place: Place, round: number) => void)[] = [
  (at) => rmSync(at),
  (at) => writeFileSync(at, 'changed'),
  (at) => appendFileSync(at, 'more'),
  (at) => chmodSync(at, 0o777),
  (at) => chmodSync(at, 0),
  (at) => replace(at, () => mkdirSync(join(at, 'in/it'), { recursive: true })),
  (at) => replace(at, () => execFileSync('mkfifo', ['--', at])),
  (at, { outside }) => replace(at, () => symlinkSync(join(outside, 'own'), at)),
  (at) => replace(at, () => symlinkSync(at, at)),
  (at, { outside }) => replace(at, () => linkSync(join(outside, 'own'), at)),
  (at, { outside }, round) => linkSync(at, join(outside, `second-${round}`)),
];

describe('a kept copy', () => {
  it('is put back whatever is in its place, and nothing outside of the folder changes', ALL, async () => {
    const random = createRandom(32);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const place = openPlace();
    const { checkout, kept, folder, outside } = place;
    for (const [index, name] of NAMES.entries()) {
      mkdirSync(join(checkout, name, '..'), { recursive: true });
      writeFileSync(join(checkout, name), `content ${index}\n`.repeat(index ** 4));
      if (index % 3 === 0) chmodSync(join(checkout, name), 0o755);
    }
    const files: CopiedFile[] = [];
    for (const name of NAMES) files.push(await readOne(checkout, name));
    await keepCopies(checkout, kept, files);
    rmSync(checkout, { recursive: true });
    await putCopies(kept, folder, files);
    for (let round = 0; round < 60; round += 1) {
      pick(SPOILS)(join(folder, pick(NAMES)), place, round);
      if (round % 10 === 9) replace(join(folder, 'deep'), () => symlinkSync(outside, join(folder, 'deep')));
      await putCopies(kept, folder, files);
      for (const { path, hash, executable } of files) {
        const found = lstatSync(join(folder, path));
        expect([found.isFile(), found.mode & 0o777, found.nlink], path).toEqual([true, executable ? 0o700 : 0o600, 1]);
        expect((await readOne(folder, path)).hash, path).toBe(hash);
      }
      expect(readFileSync(join(outside, 'own'), 'utf8')).toBe('mine\n');
      expect(readdirSync(outside).filter((name) => !name.startsWith('second-'))).toEqual(['own']);
    }
    expect(readdirSync(kept).every((name) => (lstatSync(join(kept, name)).mode & 0o777) === 0o600)).toBe(true);
    await takeOutCopies(folder, files);
    const left = files.filter(({ path }) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined);
    expect(left).toEqual([]);
  });

  it('that stayed as it was is not written again', async () => {
    const place = openPlace();
    const file = await keepEnv(place);
    await putCopies(place.kept, place.folder, [file]);
    const before = lstatSync(join(place.folder, '.env'), { bigint: true }).ctimeNs;
    await putCopies(place.kept, place.folder, [file]);
    expect(lstatSync(join(place.folder, '.env'), { bigint: true }).ctimeNs).toBe(before);
  });

  it.each([
    ['damaged', (at: string) => appendFileSync(at, 'x')],
    ['gone', (at: string) => rmSync(at)],
  ])('that is %s is put nowhere', async (_, damage) => {
    const place = openPlace();
    const file = await keepEnv(place);
    damage(join(place.kept, file.hash));
    await expect(putCopies(place.kept, place.folder, [file])).rejects.toThrow('is gone or damaged');
    expect(readdirSync(place.folder)).toEqual([]);
  });

  it.each<[how: string, change: (at: string) => void]>([
    ['has vanished', (at) => rmSync(at)],
    ['has grown', (at) => appendFileSync(at, 'x')],
    ['has another mode', (at) => chmodSync(at, 0o755)],
    ['is a link by now', (at) => replace(at, () => symlinkSync('/etc/hostname', at))],
    ['is a pipe by now', (at) => replace(at, () => execFileSync('mkfifo', [at]))],
    ['is too large by now', (at) => truncateSync(at, 10 * 1024 * 1024 + 1)],
  ])('is not taken from a file that %s since a person agreed', async (_, change) => {
    const { checkout, kept } = openPlace();
    writeFileSync(join(checkout, '.env'), 'A=1\n');
    const file = await readOne(checkout, '.env');
    change(join(checkout, '.env'));
    const keeping = keepCopies(checkout, kept, [file]);
    await expect(keeping).rejects.toMatchObject({ code: 'bad-input', next: 'Run the command again.' });
    expect(readdirSync(kept)).toEqual([]);
  });

  it('is not taken from a file whose name no line can show', async () => {
    const { checkout } = openPlace();
    writeFileSync(join(checkout, 'x\ny'), '');
    const refused = { type: 'refused', why: 'has a control character in its name' };
    expect(await readCopy(checkout, 'x\ny')).toEqual(refused);
  });

  it('is not taken from a file that grows while it is read', async () => {
    const { checkout } = openPlace();
    const at = join(checkout, '.env');
    writeFileSync(at, 'A'.repeat(200_000));
    const read = await readCopy(checkout, '.env', async () => appendFileSync(at, 'B'));
    expect(read).toEqual({ type: 'refused', why: 'changes while squad reads it' });
  });
});
