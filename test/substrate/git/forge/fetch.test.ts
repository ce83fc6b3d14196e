import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForgeBench, type ForgeBench } from './forge-bench.ts';
import { git } from '../../../support/git.ts';

let bench: ForgeBench;
beforeEach(() => {
  bench = openForgeBench();
});
afterEach(() => bench.close());

const remoteBranches = (): string => git(bench.repository, 'for-each-ref', '--format=%(refname)', 'refs/remotes');

describe('a fetch', () => {
  it('brings what the remote has, and runs no hook of the repository', async () => {
    const commit = bench.commit(bench.base, 'one');
    git(bench.repository, 'push', '-q', bench.bare, `${commit}:refs/heads/side/one`);
    const ran = join(bench.root, 'ran');
    const hooks = join(bench.repository, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, 'reference-transaction'), `#!/bin/sh\ntouch '${ran}'\n`);
    chmodSync(join(hooks, 'reference-transaction'), 0o755);
    expect(await bench.forge.remotes()).toEqual(['origin']);
    expect(await bench.forge.fetch('origin')).toEqual({ type: 'found' });
    expect(remoteBranches()).toBe('refs/remotes/origin/side/one');
    expect(existsSync(ran)).toBe(false);
  });

  it.each<[string, string, string | undefined, RegExp]>([
    ['a remote that is not configured', 'upstream', undefined, /no remote named upstream/],
    ['a name that is an option', '--all', undefined, /cannot name a remote/],
    ['a remote that is gone', 'origin', '/nowhere/app.git', /git could not fetch origin: .*nowhere/],
    ['a remote that is a program', 'origin', 'ext::sh -c true', /not allowed/],
    ['a remote that never answers', 'origin', 'ssh://example.invalid/app.git', /git could not fetch origin/],
  ])('is refused, with the reason: %s', async (_title, remote, url, why) => {
    if (url !== undefined) git(bench.repository, 'remote', 'set-url', 'origin', url);
    const forge = bench.forgeWith({ environment: { GIT_SSH_COMMAND: 'sleep 60 #' }, pushTimeoutMs: 1_500 });
    const before = Date.now();
    expect(await forge.fetch(remote)).toMatchObject({ type: 'refused', why: expect.stringMatching(why) });
    expect(Date.now() - before).toBeLessThan(30_000);
    expect(remoteBranches()).toBe('');
  });
});
