import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { placeSession, refuseFilled, refuseReadOnly } from '../../../../src/squad/sources/session/session-place.ts';

function room(): string {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'squad-session-place-')));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  return at;
}

it('quotes the folder in the next command', async () => {
  const folder = room();
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  const next = expect.stringContaining("--into 'my dir' --resume") as string;
  await expect(refuseFilled({ folder, shown: 'my dir' }, '/')).rejects.toMatchObject({ next });
});

describe('an empty folder that is there', () => {
  const refused = (folder: string, workingDirectory: string, error: Readonly<Record<string, unknown>>): Promise<void> =>
    expect(refuseFilled({ folder, shown: 'team' }, workingDirectory)).rejects.toMatchObject(error);

  it('is replaced, but not where the person stands in it', async () => {
    const folder = room();
    await refuseFilled({ folder, shown: 'team' }, dirname(folder));
    const message = expect.stringMatching(/^team is the folder that you are in/) as string;
    await refused(folder, folder, { code: 'bad-input', message });
  });

  const [mounted = ''] = emptyMounts();
  it.skipIf(mounted === '')('is not replaced where a disk is mounted (left out: no such place is empty)', async () => {
    const message = expect.stringMatching(/^team is where another disk is mounted/) as string;
    await refused(mounted, '/', { code: 'wrong-environment', message });
  });

  it.skipIf(process.getuid?.() === 0)(
    'is not replaced in a folder that is read-only (left out: root writes it)',
    async () => {
      const above = room();
      mkdirSync(join(above, 'team'));
      chmodSync(above, 0o555);
      const message = expect.stringMatching(/^team cannot be written/) as string;
      await refused(join(above, 'team'), '/', { code: 'wrong-environment', message });
    },
  );
});

function emptyMounts(): string[] {
  if (!existsSync('/proc/self/mounts')) return [];
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return paths.filter((path) => {
    try {
      return readdirSync(path).length === 0 && statSync(path).dev !== statSync(dirname(path)).dev;
    } catch {
      return false;
    }
  });
}

describe('the place of a new session', () => {
  const wanted = { title: 'Make things', now: Date.UTC(2026, 1, 27), into: undefined };

  it('has a name of its own on each day, and the session has that name too', async () => {
    const root = room();
    const names = ['TC-make-things-2026-02-27', 'TC-make-things-2026-02-27-2'];
    for (const name of names) {
      const place = await placeSession({ ...wanted, root, workingDirectory: root });
      expect(place).toMatchObject({ id: name, shown: join('.workflow', '.team', name) });
      mkdirSync(place.folder, { recursive: true });
    }
  });

  it.each([
    ['in the checkout', join('..', 'team'), 'team'],
    ['beside the checkout', join('..', '..', 'team'), undefined],
    ['the checkout itself', '..', undefined],
  ])('is named as everyone finds it, and not from where the person stands: %s', async (_, into, named) => {
    const root = join(room(), 'repository');
    const workingDirectory = join(root, 'sub');
    mkdirSync(workingDirectory, { recursive: true });
    const place = await placeSession({ ...wanted, root, workingDirectory, into });
    expect(place).toMatchObject({ shown: into, named: named ?? join(workingDirectory, into) });
  });

  it('has no name that is too long', async () => {
    const root = room();
    const placed = (bytes: number) =>
      placeSession({ ...wanted, root, workingDirectory: root, into: join('new', 'x'.repeat(bytes)) });
    await expect(placed(255)).resolves.toBeDefined();
    await expect(placed(256)).rejects.toMatchObject({ code: 'wrong-environment' });
  });
});

it.skipIf(process.getuid?.() === 0)(
  'adds nothing to a folder that is read-only (left out: root writes it)',
  async () => {
    const folder = room();
    await refuseReadOnly({ folder, shown: 'team' });
    mkdirSync(join(folder, 'roles'));
    chmodSync(join(folder, 'roles'), 0o555);
    const message = expect.stringMatching(/^team\/roles cannot be written/) as string;
    await expect(refuseReadOnly({ folder, shown: 'team' })).rejects.toMatchObject({
      code: 'wrong-environment',
      message,
    });
  },
);
