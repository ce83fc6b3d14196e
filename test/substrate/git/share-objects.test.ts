import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { forgetSent, shareObjects, type Sent } from '../../../src/substrate/git/share-objects.ts';
import { decideSharedMode, parseSharingRule } from '../../../src/substrate/git/sharing-rule.ts';
import { ALL, some } from '../../support/lane.ts';

const SOURCES = new URL('../../../src/substrate/git/', import.meta.url).href;
const UMASK = parseSharingRule(undefined);
const MEMORY = '/dev/shm';

function folder(parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, 'squad-share-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  chmodSync(path, 0o755);
  return path;
}

const nothingSent = (): Sent => ({ names: new Set(), folders: new Map() });

interface Who {
  readonly uid: number;
  /** Of the primary group. */
  readonly gid: number;
  readonly groups: readonly number[];
}

/** One line of a shell, as `who` and with this umask. */
function shell(cwd: string, line: string, { umask = '022', who }: { umask?: string; who?: Who } = {}): string {
  const words = ['/bin/sh', '-c', `umask ${umask}; ${line}`];
  const as = who && ['setpriv', `--reuid=${who.uid}`, `--regid=${who.gid}`, `--groups=${who.groups.join()}`, '--'];
  const [command = '', ...args] = [...(as ?? []), ...words];
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', NODE: process.execPath };
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', env });
  expect(ran.stderr, line).toBe('');
  expect(ran.status, line).toBe(0);
  return ran.stdout.trim();
}

/** A line that gives the objects of `from` to `to` in a process of its own. */
function sharing(from: string, to: string, setting?: string): string {
  const program = `
    const { shareObjects } = await import(${JSON.stringify(`${SOURCES}share-objects.ts`)});
    const { parseSharingRule } = await import(${JSON.stringify(`${SOURCES}sharing-rule.ts`)});
    await shareObjects(${JSON.stringify(from)}, ${JSON.stringify(to)}, { names: new Set(), folders: new Map() }, parseSharingRule(${JSON.stringify(setting)}));
  `;
  return `"$NODE" --input-type=module --eval '${program}'`;
}

/** Every object and its folder in a store, with its mode, owner and group. */
function sharedIn(store: string): Record<string, string> {
  const found = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((name) => /^[0-9a-f]{2}/.test(name));
  const entries = found.toSorted().map((name) => {
    const { mode, uid, gid } = statSync(join(store, name));
    return [name, `${mode.toString(8)} ${uid}:${gid}`];
  });
  return Object.fromEntries(entries);
}

/** A store with some loose objects, as another git of this user made it. */
function storeIn(place: string, count = 3, options: Parameters<typeof shell>[2] = {}): string {
  shell(place, 'git init -q --bare store.git', options);
  const write = `for n in $(seq ${count}); do echo object $n | git -C store.git hash-object -w --stdin >/dev/null; done`;
  shell(place, write, options);
  return join(place, 'store.git/objects');
}

describe('objects that are given to a repository', () => {
  const settings = ['umask', 'group', 'true', '1', 'all', '2', '0640', '0660', '0600', 'false'];
  const cases = settings.flatMap((setting) => ['022', '027', '077', '002'].map((umask) => [setting, umask] as const));
  it.each(some(cases, 0, 6))(
    'have the mode that git gives its own: core.sharedRepository=%s, umask %s',
    ALL,
    (setting, umask) => {
      const place = folder();
      const store = storeIn(place, 3, { umask });
      for (const name of ['by-git', 'by-squad']) {
        shell(place, `git init -q --bare ${name} && git -C ${name} config core.sharedRepository ${setting}`, { umask });
      }
      shell(place, 'for n in $(seq 3); do echo object $n | git -C by-git hash-object -w --stdin >/dev/null; done', {
        umask,
      });
      shell(place, sharing(store, join(place, 'by-squad/objects'), setting), { umask });
      expect(sharedIn(join(place, 'by-squad/objects'))).toEqual(sharedIn(join(place, 'by-git/objects')));
    },
  );

  it('are one file with the run’s where nobody notices a difference', async () => {
    const place = folder();
    const store = storeIn(place);
    shell(place, 'git init -q --bare target');
    const to = join(place, 'target/objects');
    await shareObjects(store, to, nothingSent(), UMASK);
    const [name = ''] = Object.keys(sharedIn(store)).filter((path) => path.includes('/'));
    expect(statSync(join(to, name)).ino).toBe(statSync(join(store, name)).ino);
  });

  it('are given although others of their folders were given just before, or long ago', ALL, async () => {
    const place = folder();
    const store = storeIn(place);
    shell(place, 'git init -q --bare target');
    const to = join(place, 'target/objects');
    const sent = nothingSent();
    for (let round = 1; round <= 12; round += 1) {
      // 40 of 256 folders each time, so that most get a second one soon.
      const write = `for n in $(seq 40); do echo ${round} $n >new-$n; done; ls -d $PWD/new-*`;
      shell(place, `${write} | git --git-dir=store.git hash-object -w --stdin-paths`);
      if (round % 4 === 0) await sleep(120);
      await shareObjects(store, to, sent, UMASK);
      expect(Object.keys(sharedIn(to)).toSorted()).toEqual(Object.keys(sharedIn(store)).toSorted());
    }
    expect(sent.folders.size).toBeGreaterThan(0);
    forgetSent(sent);
    await shareObjects(store, to, sent, UMASK);
    expect(sent.names.size).toBeGreaterThan(0);
  });

  it('do not change those that are there', async () => {
    const place = folder();
    const store = storeIn(place);
    shell(place, 'git init -q --bare target');
    shell(place, 'echo object 1 | git -C target hash-object -w --stdin');
    const before = sharedIn(join(place, 'target/objects'));
    const [name = ''] = Object.keys(before).filter((path) => path.includes('/'));
    const { ino } = statSync(join(place, 'target/objects', name));
    await shareObjects(store, join(place, 'target/objects'), nothingSent(), UMASK);
    expect(statSync(join(place, 'target/objects', name)).ino).toBe(ino);
  });
});

it('reads every form of core.sharedRepository', () => {
  const modeOf = (value: string): string => decideSharedMode(parseSharingRule(value), 0o444, false).toString(8);
  const forms = ['group', 'TRUE', '1', 'world', '2', '0640', 'nonsense', '0', ''];
  expect(forms.map(modeOf)).toEqual(['444', '444', '444', '444', '444', '440', '444', '444', '444']);
  expect(decideSharedMode(parseSharingRule('group'), 0o700, true).toString(8)).toBe('2770');
});

/** On another file system than the folder for temporary files; undefined: this machine has none that anybody can write. */
function otherDisk(): string | undefined {
  try {
    const memory = statSync(MEMORY);
    const here = folder();
    const there = folder(MEMORY);
    if (statSync(here).dev !== memory.dev) return there;
    const onDisk = folder('/var/tmp');
    return statSync(onDisk).dev === memory.dev ? undefined : onDisk;
  } catch {
    return undefined;
  }
}

describe('a store on another disk', () => {
  it('gives its objects to two writers at once, and past what a killed one left', ALL, async ({ skip }) => {
    const elsewhere = otherDisk();
    if (elsewhere === undefined) return skip('no second file system here');
    const place = folder();
    const store = storeIn(elsewhere, 60);
    shell(place, 'git init -q --bare target');
    const to = join(place, 'target/objects');
    for (const name of Object.keys(sharedIn(store)).slice(0, 10)) {
      if (!name.includes('/')) mkdirSync(join(to, name), { recursive: true });
      // As an older version left it, with the mode of an object.
      else writeFileSync(join(to, `${name}.new`), 'half', { mode: 0o444 });
    }
    await Promise.all([1, 2, 3].map(async () => shareObjects(store, to, nothingSent(), UMASK)));
    expect(
      shell(place, 'git -C target fsck --strict --no-dangling 2>&1 | grep -v ^notice; git -C target count-objects'),
    ).toMatch(/^60 objects/);
    const left = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('tmp_obj_'));
    expect(left).toEqual([]);
  });

  it('leaves nothing half-written in the folder where it may not write', async ({ skip }) => {
    if (process.getuid?.() === 0) return skip('root may write everywhere');
    const place = folder();
    const store = storeIn(place);
    shell(place, 'git init -q --bare target');
    chmodSync(join(place, 'target/objects'), 0o555);
    const given = shareObjects(store, join(place, 'target/objects'), nothingSent(), UMASK);
    await expect(given).rejects.toMatchObject({ code: 'storage-refused' });
  });
});

describe('a repository that a group shares', () => {
  const GROUP = 61_234;
  const [one, two] = [61_001, 61_002].map((uid) => ({ uid, gid: uid, groups: [GROUP] }));
  const cases = ['027', '077'].flatMap((umask) =>
    [undefined, 'group'].flatMap((setting) => [false, true].map((isElsewhere) => ({ umask, setting, isElsewhere }))),
  );
  it.for(some(cases, 0, 4))('is read by the others: %o', ALL, ({ umask, setting, isElsewhere }, { skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can be two users');
    if (spawnSync('setpriv', ['--version']).status !== 0) return skip('setpriv is not installed');
    const elsewhere = isElsewhere ? otherDisk() : folder();
    if (elsewhere === undefined) return skip('no second file system here');
    const place = folder();
    for (const path of [elsewhere, place]) chownSync(path, one!.uid, path === place ? GROUP : one!.gid);
    chmodSync(place, 0o2775);
    // By a first person whose umask is the group's; with the setting, git says so itself.
    shell(place, 'git init -q --bare target', { umask: '002', who: one! });
    if (setting !== undefined) shell(place, `git -C target config core.sharedRepository ${setting}`, { who: one! });
    const store = storeIn(elsewhere, 3, { umask, who: one! });
    shell(place, sharing(store, join(place, 'target/objects'), setting), { umask, who: one! });
    const groups = new Set(Object.values(sharedIn(join(place, 'target/objects'))).map((text) => text.split(':')[1]));
    expect([...groups]).toEqual([String(GROUP)]);
    // Without the setting, a umask of 077 keeps the group out, of what a person's own git writes too.
    if (umask === '077' && setting === undefined) return;
    const safe = 'git -c safe.directory="*" -C target';
    const ids = Object.keys(sharedIn(store)).flatMap((name) => (name.includes('/') ? [name.replace('/', '')] : []));
    for (const id of ids) expect(shell(place, `${safe} cat-file -t ${id}`, { who: two! })).toBe('blob');
  });
});
