import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForgePorts } from '../../../src/substrate/git/forge/remotes.ts';
import { headRef, takeRun } from '../../../src/substrate/git/run-remote.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../src/substrate/system/process/system-processes.ts';
import { createRepository, git } from '../../support/git.ts';

let root: string;
let bare: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-remote-')));
  bare = join(root, 'bare.git');
  git(root, 'init', '-q', '--bare', bare);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A worker with a repository of its own. `after`: changes the answer of a push that has come through. */
function openWorker(name: string, epoch: number, { after = false, id = 'id-of-fix' } = {}) {
  const folder = join(root, name);
  const repository = createRepository(join(folder, 'checkout'));
  const home = join(folder, 'home');
  mkdirSync(home);
  const processes = createSystemProcesses({ clock: createSystemClock() });
  let cut = after;
  const ports: ForgePorts = {
    processes: {
      ...processes,
      run: async (...given) => {
        const answer = await processes.run(...given);
        if (!cut || given[2].kind !== 'git-publish') return answer;
        cut = false;
        return { ...answer, code: 128, stdout: '', stderr: 'fatal: the remote end hung up unexpectedly' };
      },
    },
    environment: { PATH: process.env['PATH'], HOME: home },
    binary: () => Promise.resolve('/usr/bin/git'),
    stateDirectory: join(folder, 'state'),
    forgeCli: () => Promise.resolve(undefined),
  };
  const place = { root: repository, commonDirectory: join(repository, '.git') };
  const commit = (text: string) => git(repository, 'commit-tree', '-m', text, 'HEAD^{tree}', '-p', 'HEAD');
  const take = async () => takeRun(ports, place, { url: bare, run: 'fix', id, epoch, worker: name });
  return { repository, commit, take };
}

const refsAt = (repository: string) =>
  Object.fromEntries(
    git(repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/squad/')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ')),
  ) as Record<string, string>;

const kept = (commit: string, name = 'a-1') => ({ ref: `refs/squad/fix/${name}`, at: commit });

describe('the remote of a run', () => {
  it('has the refs of the newest push, and no other', async () => {
    const one = openWorker('one', 1);
    const remote = await one.take();
    const [first, second] = [one.commit('first'), one.commit('second')];
    await remote.push([kept(first), kept(second, 'b-1')]);
    await remote.push([kept(second), { ref: headRef('fix'), at: first }]);
    const { 'refs/squad/fix/lease': lease, ...others } = refsAt(bare);
    expect(others).toEqual({ 'refs/squad/fix/a-1': second, [headRef('fix')]: first });
    expect(git(bare, 'cat-file', 'blob', lease ?? '')).toContain('epoch 1\nworker one');
  });

  it('says to the next worker whether the one before may still work, and to that one that it may not', async () => {
    const one = openWorker('one', 1);
    const remote = await one.take();
    expect(remote.isContested).toBe(false);
    await remote.push([kept(one.commit('first'))]);
    await remote.confirm();
    const second = await openWorker('two', 2).take();
    expect(second.isContested).toBe(true);
    await expect(remote.confirm()).rejects.toMatchObject({ code: 'lease-fenced' });
    await second.confirm();
    await second.giveUp();
    expect((await openWorker('three', 3).take()).isContested).toBe(false);
    await expect(second.confirm()).rejects.toMatchObject({ code: 'lease-fenced' });
  });

  it('is left alone where nothing has changed', async () => {
    const one = openWorker('one', 1);
    const remote = await one.take();
    const commit = one.commit('first');
    await remote.push([kept(commit)]);
    const before = refsAt(bare);
    await remote.push([kept(commit)]);
    expect(refsAt(bare)).toEqual(before);
  });

  it('gives the next worker the commits, and takes nothing from the former one any more', async () => {
    const [one, two] = [openWorker('one', 1), openWorker('two', 2)];
    const former = await one.take();
    const commit = one.commit('work');
    await former.push([kept(commit), { ref: headRef('fix'), at: commit }]);
    const remote = await two.take();
    expect(refsAt(two.repository)).toEqual({ 'refs/squad/fix/a-1': commit });
    expect(git(two.repository, 'log', '-1', '--format=%s', commit)).toBe('work');
    const before = refsAt(bare);
    await expect(former.push([kept(one.commit('late'))])).rejects.toMatchObject({ code: 'lease-fenced' });
    expect(refsAt(bare)).toEqual(before);
    const next = two.commit('more');
    await remote.push([kept(commit), kept(next, 'a-2')]);
    expect(refsAt(bare)).toMatchObject({ 'refs/squad/fix/a-1': commit, 'refs/squad/fix/a-2': next });
  });

  it('refuses a worker of an earlier epoch, and the same epoch twice', async () => {
    await openWorker('two', 2).take();
    await expect(openWorker('one', 1).take()).rejects.toMatchObject({ code: 'lease-fenced' });
    await expect(openWorker('three', 2).take()).rejects.toMatchObject({ code: 'lease-fenced' });
  });

  it('lets one of two win that take it at the same moment', async () => {
    const workers = Array.from({ length: 3 }, (_, index) => openWorker(`w${index}`, 5));
    const all = await Promise.allSettled(workers.map(async ({ take }) => take()));
    const won = all.flatMap((answer, index) => (answer.status === 'fulfilled' ? [`w${index}`] : []));
    expect(won).toHaveLength(1);
    const lease = refsAt(bare)['refs/squad/fix/lease'] ?? '';
    expect(git(bare, 'cat-file', 'blob', lease)).toContain(`worker ${won[0]}\n`);
  });

  it('sees that a push has come through whose answer was lost', async () => {
    const one = openWorker('one', 1, { after: true });
    // The first push is that of the lease.
    const remote = await one.take();
    const commit = one.commit('work');
    await remote.push([kept(commit)]);
    expect(refsAt(bare)['refs/squad/fix/a-1']).toBe(commit);
  });

  it('says that it is away, and takes all of it later', async () => {
    const one = openWorker('one', 1);
    const remote = await one.take();
    const commit = one.commit('work');
    renameSync(bare, `${bare}.away`);
    await expect(remote.push([kept(commit)])).rejects.toMatchObject({ code: 'storage-refused' });
    renameSync(`${bare}.away`, bare);
    await remote.push([kept(commit)]);
    expect(refsAt(bare)['refs/squad/fix/a-1']).toBe(commit);
  });

  it('refuses the refs of another run with the name', async () => {
    await openWorker('one', 1, { id: 'an-older-run' }).take();
    await expect(openWorker('two', 7).take()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('refs of another run fix') as unknown,
    });
  });

  it('publishes a branch, and never forces it', async () => {
    const one = openWorker('one', 1);
    const remote = await one.take();
    const [mine, other] = [one.commit('mine'), one.commit('other')];
    expect(await remote.publish('refs/heads/squad/fix', mine)).toBeUndefined();
    expect(git(bare, 'rev-parse', 'refs/heads/squad/fix')).toBe(mine);
    expect(await remote.publish('refs/heads/squad/fix', other)).toContain('never forces');
    expect(git(bare, 'rev-parse', 'refs/heads/squad/fix')).toBe(mine);
  });
});
