import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushAnswer } from '../../../../src/substrate/git/forge/push.ts';
import { git } from '../../../support/git.ts';
import { openForgeBench, type ForgeBench } from './forge-bench.ts';
import { ALL } from '../../../support/lane.ts';

let bench: ForgeBench;
beforeEach(() => {
  bench = openForgeBench();
});
afterEach(() => bench.close());

const push = async (commit: string, changes: { remote?: string; branch?: string } = {}) =>
  bench.forge.push({ remote: 'origin', branch: 'squad/fix', commit, ...changes });

/** A program that leaves a mark and fails. */
function trap(name: string): { path: string; fired: () => boolean } {
  const [path, mark] = [join(bench.root, name), join(bench.root, `${name}.fired`)];
  writeFileSync(path, `#!/bin/sh\ntouch '${mark}'\nexit 1\n`);
  chmodSync(path, 0o755);
  return { path, fired: () => existsSync(mark) };
}

describe('push', () => {
  it('makes the branch, moves it forward, and says so again', ALL, async () => {
    const first = bench.commit(bench.base, 'one');
    const second = bench.commit(first, 'two');
    expect(await push(first)).toEqual({ type: 'pushed' });
    expect(bench.remoteHead('squad/fix')).toBe(first);
    expect(await push(second)).toEqual({ type: 'pushed' });
    expect(await push(second)).toEqual({ type: 'pushed' });
    expect(bench.remoteHead('squad/fix')).toBe(second);
  });

  it('leaves the branch, index, tree and config of the checkout as they are', async () => {
    const look = () => [
      git(bench.repository, 'status', '--porcelain=v2', '--branch'),
      git(bench.repository, 'config', '--list', '--local'),
      git(bench.repository, 'for-each-ref', 'refs/heads'),
    ];
    const before = look();
    await push(bench.commit(bench.base, 'one'));
    expect(look()).toEqual(before);
  });

  it('forces nothing over commits of others, known here or not', ALL, async () => {
    const theirs = bench.commit(bench.base, 'theirs');
    const ours = bench.commit(bench.base, 'ours');
    await push(theirs);
    const answer = await push(ours);
    expect(answer).toMatchObject({ type: 'refused', next: expect.stringContaining('git fetch origin squad/fix') });
    expect(bench.remoteHead('squad/fix')).toBe(theirs);

    const clone = join(bench.root, 'clone');
    git(bench.root, 'clone', '-q', '-b', 'squad/fix', bench.bare, clone);
    git(clone, 'commit', '-q', '--allow-empty', '-m', 'unknown here');
    git(clone, 'push', '-q', 'origin', 'squad/fix');
    const unknown = bench.remoteHead('squad/fix');
    expect(await push(bench.commit(theirs, 'more'))).toMatchObject({
      type: 'refused',
      why: expect.stringContaining('squad never forces a push'),
    });
    expect(bench.remoteHead('squad/fix')).toBe(unknown);
  });

  it('takes over what stands at an ancestor', async () => {
    git(bench.repository, 'push', '-q', 'origin', `${bench.base}:refs/heads/squad/fix`);
    const work = bench.commit(bench.base, 'one');
    expect(await push(work)).toEqual({ type: 'pushed' });
    expect(bench.remoteHead('squad/fix')).toBe(work);
  });

  it('puts nothing else there', async () => {
    git(bench.repository, 'tag', '-a', '-m', 'v1', 'v1');
    git(bench.repository, 'config', 'push.followTags', 'true');
    git(bench.repository, 'config', 'push.pushOption', 'merge_request.create');
    await push(bench.commit(bench.base, 'one'));
    expect(git(bench.bare, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/squad/fix');
  });

  it('works with a remote whose path is relative', async () => {
    git(bench.repository, 'remote', 'set-url', 'origin', '../bare.git');
    expect(await push(bench.commit(bench.base, 'one'))).toEqual({ type: 'pushed' });
  });
});

describe('refused', () => {
  it.each([
    ['a remote that is not configured, even if there is a folder of its name', { remote: 'bare.git' }],
    ['a remote that is a path', { remote: '../bare.git' }],
    ['a remote that is an option', { remote: '--all' }],
    ['a branch that is an option', { branch: '-f' }],
    ['a branch that is a range', { branch: 'a..b' }],
    ['a branch that would force', { branch: 'x:+refs/heads/main' }],
  ])('%s', async (_, changes) => {
    const answer = await push(bench.commit(bench.base, 'one'), changes);
    expect(answer).toMatchObject({ type: 'refused' });
    expect(git(bench.bare, 'for-each-ref')).toBe('');
  });

  it('a remote that is missing, with the command that helps', async () => {
    expect(await push(bench.base, { remote: 'upstream' })).toMatchObject({
      why: 'the repository has no remote named upstream',
      next: expect.stringContaining('git remote add upstream <url>'),
    });
  });

  it('what is no commit id, as a bug of the caller', async () => {
    await expect(push('HEAD')).rejects.toThrow('is not a commit id');
  });

  it('a remote that is gone, or has no such commit to take', async () => {
    expect(await push('0'.repeat(39) + '1')).toMatchObject({
      type: 'refused',
      why: expect.stringContaining('could not'),
    });
    git(bench.repository, 'remote', 'set-url', 'origin', join(bench.root, 'gone.git'));
    expect(await push(bench.base)).toMatchObject({ type: 'refused', next: expect.stringContaining('git push origin') });
  });

  it('what the other side refuses, with its words', async () => {
    const hook = join(bench.bare, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "work in progress is not welcome" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    expect(await push(bench.commit(bench.base, 'one'))).toMatchObject({
      type: 'refused',
      why: expect.stringMatching(/pre-receive hook declined.*not welcome/),
    });
  });

  it('files of Git LFS, which only its hook uploads', ALL, async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n';
    const work = bench.commit(bench.base, 'large.bin', pointer);
    expect(await push(work)).toMatchObject({ type: 'refused', why: expect.stringContaining('Git LFS') });
    git(bench.repository, 'push', '-q', 'origin', `${work}:refs/heads/main`);
    expect(await push(bench.commit(work, 'small'))).toEqual({ type: 'pushed' });
  });
});

describe('programs', () => {
  it('of the repository do not run: hooks, signers, other ends', async () => {
    const work = bench.commit(bench.base, 'one');
    const hooks = ['pre-push', 'reference-transaction'].map((name) => {
      const path = join(bench.repository, '.git', 'hooks', name);
      writeFileSync(path, `#!/bin/sh\ntouch '${join(bench.root, `${name}.fired`)}'\nexit 1\n`);
      chmodSync(path, 0o755);
      return join(bench.root, `${name}.fired`);
    });
    const [signer, receiver] = [trap('signer'), trap('receiver')];
    git(bench.repository, 'config', 'push.gpgSign', 'true');
    git(bench.repository, 'config', 'gpg.program', signer.path);
    git(bench.repository, 'config', 'remote.origin.receivepack', receiver.path);
    expect(await push(work)).toEqual({ type: 'pushed' });
    expect([...hooks.map((path) => existsSync(path)), signer.fired(), receiver.fired()]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['an address that is a program', 'remote.origin.url', (path: string) => `ext::${path}`],
    ['an address that a rule makes a program', 'url.ext::PATH.insteadOf', () => ''],
    ['a helper for the remote', 'remote.origin.vcs', () => 'ext'],
  ])('named by %s do not run', async (_, key, value) => {
    const program = trap('program');
    if (key.startsWith('url.')) git(bench.repository, 'config', `url.ext::${program.path} .insteadOf`, bench.bare);
    else git(bench.repository, 'config', key, value(program.path));
    expect(await push(bench.commit(bench.base, 'one'))).toMatchObject({ type: 'refused' });
    expect(program.fired()).toBe(false);
  });

  it('by which the user logs in do: ssh as configured, with the agent at hand and no secret of the host', async () => {
    const seen = join(bench.root, 'seen');
    const ssh = join(bench.root, 'ssh');
    writeFileSync(ssh, `#!/bin/sh\nenv > '${seen}'\nfor last; do :; done\nexec sh -c "$last"\n`);
    chmodSync(ssh, 0o755);
    git(bench.repository, 'config', 'core.sshCommand', ssh);
    git(bench.repository, 'remote', 'set-url', 'origin', `ssh://git@example.invalid${bench.bare}`);
    const environment = { SSH_AUTH_SOCK: '/run/agent', AWS_SECRET_ACCESS_KEY: 'hush', SSH_ASKPASS: 'x', DISPLAY: ':0' };
    const work = bench.commit(bench.base, 'one');
    const forge = bench.forgeWith({ environment });
    expect(await forge.push({ remote: 'origin', branch: 'squad/fix', commit: work })).toEqual({ type: 'pushed' });
    const text = readFileSync(seen, 'utf8');
    expect(text).toContain('SSH_AUTH_SOCK=/run/agent');
    expect(text).not.toMatch(/hush|SSH_ASKPASS=|DISPLAY/);
    expect(bench.remoteHead('squad/fix')).toBe(work);
  });

  it('that do not end are ended', async () => {
    git(bench.repository, 'config', 'core.sshCommand', 'sleep 60 #');
    git(bench.repository, 'remote', 'set-url', 'origin', 'ssh://git@example.invalid/x.git');
    const forge = bench.forgeWith({ pushTimeoutMs: 500 });
    const answer = await forge.push({ remote: 'origin', branch: 'squad/fix', commit: bench.base });
    expect(answer).toMatchObject({ type: 'refused', why: expect.stringContaining('did not end within 500 ms') });
  });
});

describe('a login over http', () => {
  it("is the user's own helper's, and is not shown", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { authorization } = request.headers;
      seen.push(authorization ?? 'none');
      response.writeHead(authorization === undefined ? 401 : 403, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const helper = '!f() { echo username=me; echo password=from-helper; }; f';
    writeFileSync(join(bench.root, 'home', '.gitconfig'), `[credential]\n\thelper = "${helper}"\n`);
    git(bench.repository, 'remote', 'set-url', 'origin', `http://127.0.0.1:${port}/x.git`);
    const answer = await push(bench.base);
    server.close();
    expect(answer).toMatchObject({ type: 'refused', why: expect.stringContaining('403') });
    expect(seen).toContain(`Basic ${Buffer.from('me:from-helper').toString('base64')}`);
    expect(JSON.stringify(answer)).not.toContain('from-helper');
  });

  it('that stands in the address is not shown', async () => {
    git(bench.repository, 'remote', 'set-url', 'origin', 'http://me:hush@127.0.0.1:9/x.git');
    const answers = [await push(bench.base), await bench.forge.findPullRequest({ remote: 'origin', branch: 'x' })];
    expect(answers).toMatchObject([{ type: 'refused' }, { type: 'refused' }]);
    expect(JSON.stringify(answers)).not.toContain('hush');
  });
});

describe('what git says', () => {
  const names = { remote: 'origin', branch: 'x', command: 'git push' };
  it.each([
    ['nothing at all', { code: 0, stdout: '', stderr: '' }],
    ['success of nothing', { code: 0, stdout: 'To x\nDone\n', stderr: '' }],
    ['a forced move', { code: 0, stdout: '+\ta:refs/heads/x\tabc...def (forced update)\nDone\n', stderr: '' }],
    ['one of two rejected', { code: 1, stdout: '*\ta:b\t[new branch]\n!\ta:b\t[remote rejected] (no)\n', stderr: '' }],
    ['a new branch, and a failure', { code: 1, stdout: '*\ta:b\t[new branch]\n', stderr: 'oh no' }],
  ])('%s is not pushed', (_, answer) => {
    expect(pushAnswer(answer, names).type).toBe('refused');
  });
});
