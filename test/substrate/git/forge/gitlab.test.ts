// @module-tag all
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgePlace } from '../../../../src/substrate/git/forge/remotes.ts';
import { openForgeBench, type ForgeBench } from './forge-bench.ts';

let bench: ForgeBench;
beforeEach(() => {
  bench = openForgeBench();
});
afterEach(() => bench.close());

const of = { remote: 'origin', branch: 'squad/fix' };
const order = { ...of, base: 'main', title: 'Fix it', body: 'All of it.' };
const request = (iid: number, state: string, more: object = {}): object => ({
  ...{ iid, state, source_branch: 'squad/fix', sha: `${iid}`.repeat(40) },
  ...more,
});
const url = (iid: number): string => `https://gitlab.com/acme/tools/app/-/merge_requests/${iid}`;

describe('a repository on GitLab', () => {
  it.each([
    ['git@gitlab.com:acme/tools/app.git', { host: 'gitlab.com', path: 'acme/tools/app' }],
    ['https://gitlab.acme.com/a/b/c/d', { host: 'gitlab.acme.com', path: 'a/b/c/d' }],
    ['ssh://git@altssh.gitlab.com:443/acme/app.git', { host: 'gitlab.com', path: 'acme/app' }],
    ['https://gitlab.com/acme', undefined],
    ['https://gitlab.com/acme/../app x', undefined],
    ['/srv/gitlab.com/acme/app', undefined],
  ])('%s', (remote, place) => {
    expect(forgePlace(remote)).toEqual(place);
  });
});

describe('merge requests', () => {
  it('finds the newest of that branch, open or not, and passes over those of forks', async () => {
    const fork = request(4, 'opened', { source_project_id: 8 });
    bench.gitlab({ requests: [request(1, 'closed'), request(3, 'merged'), request(2, 'opened'), fork] });
    expect(await bench.forge.findPullRequest(of)).toEqual({
      type: 'found',
      pullRequest: { url: url(3), commit: '3'.repeat(40), open: false },
    });
  });

  it('opens one at the commit that was pushed, once, with the texts as they are', async () => {
    bench.gitlab({});
    const commit = bench.commit(bench.base, 'one');
    expect(await bench.forge.push({ ...of, commit })).toEqual({ type: 'pushed' });
    const opened = { type: 'found', pullRequest: { url: url(1), commit, open: true } };
    const texts = { ...order, title: '[wip]', body: '@/etc/passwd\n--web $(x)=1' };
    expect(await bench.forge.openPullRequest(texts)).toEqual(opened);
    expect(await bench.forge.openPullRequest(texts)).toEqual(opened);
    const made = bench.calls().filter(({ args }) => args.includes('--method=POST'));
    expect(made).toEqual([
      {
        args: [
          ...['api', '--hostname=gitlab.com', '--method=POST', 'projects/acme%2Ftools%2Fapp/merge_requests'],
          ...['--raw-field=source_branch=squad/fix', '--raw-field=target_branch=main', '--raw-field=title=[wip] '],
          '--raw-field=description=@/etc/passwd\n--web $(x)=1',
        ],
        cwd: '/',
        env: { updates: 'false' },
      },
    ]);
  });

  it('opens a draft with labels, and asks for reviews by the quick action', async () => {
    bench.gitlab({});
    await bench.forge.push({ ...of, commit: bench.base });
    await bench.forge.openPullRequest({ ...order, draft: true, reviewers: ['ada', 'bob'], labels: ['squad', 'good'] });
    const made = bench.calls().find(({ args }) => args.includes('--method=POST'));
    expect(made?.args).toContain('--raw-field=title=Draft: Fix it');
    expect(made?.args.find((one) => one.startsWith('--raw-field=description='))).toMatch(
      /\n\n\/assign_reviewer @ada @bob$/,
    );
    expect(made?.args).toContain('--raw-field=labels=squad,good');
  });

  it('uses glab for a host of another name only where gh is not installed', async () => {
    bench.gitlab({ host: 'git.acme.com' });
    expect(await bench.forgeWith({ clis: ['glab'] }).findPullRequest(of)).toEqual({ type: 'none' });
    expect(await bench.forgeWith({ clis: ['gh', 'glab'] }).findPullRequest(of)).toMatchObject({
      why: expect.stringContaining('not a repository on GitHub'),
    });
  });

  it.each([
    ['logged-out', 'glab is not logged in to gitlab.com', 'glab auth login --hostname gitlab.com'],
    ['garbage', 'does not understand the answer of glab', 'Update'],
    ['refuses', '403 Forbidden', 'glab mr list --repo https://gitlab.com/acme/tools/app'],
  ])('refused: %s', async (mode, why, next) => {
    bench.gitlab({ mode });
    expect(await bench.forge.openPullRequest(order)).toMatchObject({
      type: 'refused',
      why: expect.stringContaining(why),
      next: expect.stringContaining(next),
    });
  });

  it('says what to install', async () => {
    bench.gitlab({});
    expect(await bench.forgeWith({ clis: ['gh'] }).findPullRequest(of)).toMatchObject({
      why: expect.stringContaining('`glab`, is not on PATH'),
      next: expect.stringContaining('glab auth login --hostname gitlab.com'),
    });
  });
});

describe('issues', () => {
  it('are read by number or URL, and those that are not there are said', async () => {
    bench.gitlab({ issues: [{ iid: 12, title: 'Broken', description: null }] });
    const issue = { number: 12, title: 'Broken', body: '', url: 'https://gitlab.com/acme/tools/app/-/issues/12' };
    expect(await bench.forge.readIssue({ number: 12, remote: 'origin' })).toEqual({ type: 'found', issue });
    const named = { number: 12, remote: 'origin', repository: 'gitlab.com/acme/tools/app' };
    expect(await bench.forge.readIssue(named)).toEqual({ type: 'found', issue });
    expect(await bench.forge.readIssue({ number: 13, remote: 'origin' })).toEqual({
      type: 'none',
      repository: 'gitlab.com/acme/tools/app',
      list: 'glab issue list --repo https://gitlab.com/acme/tools/app',
    });
  });
});
