// @module-tag all
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForgeBench, type ForgeBench, type Pull } from './forge-bench.ts';
import { git } from '../../../support/git.ts';

let bench: ForgeBench;
beforeEach(() => {
  bench = openForgeBench();
});
afterEach(() => bench.close());

const of = { remote: 'origin', branch: 'squad/fix' };
const order = { ...of, base: 'main', title: 'Fix it', body: 'All of it.' };
const pull = (number: number, state: Pull['state'], more: Partial<Pull> = {}): Pull => ({
  number,
  head: 'squad/fix',
  state,
  headRefOid: `${number}`.repeat(40),
  ...more,
});
const url = (number: number): string => `https://github.com/acme/app/pull/${number}`;

describe('finding', () => {
  it('answers with the newest of that branch, open or not', async () => {
    bench.github({
      pulls: [pull(1, 'CLOSED'), pull(3, 'MERGED'), pull(2, 'OPEN'), pull(4, 'OPEN', { head: 'other' })],
    });
    expect(await bench.forge.findPullRequest(of)).toEqual({
      type: 'found',
      pullRequest: { url: url(3), commit: '3'.repeat(40), open: false },
    });
  });

  it('passes over branches of the same name in forks', async () => {
    bench.github({ pulls: [pull(1, 'OPEN', { isCrossRepository: true })] });
    expect(await bench.forge.findPullRequest(of)).toEqual({ type: 'none' });
  });

  it('asks about the remote by name and stands outside of the repository, where git would be run', async () => {
    bench.github({});
    await bench.forge.findPullRequest(of);
    expect(bench.calls()).toEqual([
      { cwd: '/', args: expect.arrayContaining(['pr', 'list', '--repo=github.com/acme/app']) },
    ]);
  });
});

describe('opening', () => {
  it('answers with the one that it opened, at the commit that was pushed', async () => {
    bench.github({});
    const commit = bench.commit(bench.base, 'one');
    expect(await bench.forge.push({ ...of, commit })).toEqual({ type: 'pushed' });
    const opened = { type: 'found', pullRequest: { url: url(1), commit, open: true } };
    expect(await bench.forge.openPullRequest(order)).toEqual(opened);
    expect(await bench.forge.openPullRequest(order)).toEqual(opened);
    expect(bench.calls().filter(({ args }) => args[1] === 'create')).toHaveLength(1);
  });

  it('opens another when the last one was closed', async () => {
    bench.github({ pulls: [pull(1, 'CLOSED')] });
    await bench.forge.push({ ...of, commit: bench.base });
    expect(await bench.forge.openPullRequest(order)).toMatchObject({ pullRequest: { url: url(2), open: true } });
  });

  it('opens a draft, with labels, and asks for reviews', async () => {
    bench.github({});
    await bench.forge.push({ ...of, commit: bench.base });
    const more = { draft: true, reviewers: ['ada', 'acme/core'], labels: ['squad', 'good first'] };
    await bench.forge.openPullRequest({ ...order, ...more });
    const create = bench.calls().find(({ args }) => args[1] === 'create');
    expect(create?.args.slice(6)).toEqual([
      '--draft',
      '--reviewer=ada',
      '--reviewer=acme/core',
      '--label=squad',
      '--label=good first',
      '--repo=github.com/acme/app',
    ]);
  });

  it('hands texts on as they are, and as no option', async () => {
    bench.github({});
    await bench.forge.push({ ...of, commit: bench.base });
    await bench.forge.openPullRequest({ ...order, title: '--web\n$(x) ', body: '-F /etc/passwd `x`\n"y"' });
    const create = bench.calls().find(({ args }) => args[1] === 'create');
    expect(create?.args).toEqual([
      'pr',
      'create',
      '--head=squad/fix',
      '--base=main',
      '--title=--web $(x)',
      '--body=-F /etc/passwd `x`\n"y"',
      '--repo=github.com/acme/app',
    ]);
  });

  it('cuts what GitHub would not take', async () => {
    bench.github({});
    await bench.forge.push({ ...of, commit: bench.base });
    const long = { ...order, title: 't'.repeat(1000), body: '本'.repeat(200_000) };
    expect(await bench.forge.openPullRequest(long)).toMatchObject({ type: 'found' });
    const [title, body] = ['--title=', '--body='].map((name) =>
      bench
        .calls()
        .flatMap(({ args }) => args.filter((item) => item.startsWith(name)))
        .join(''),
    );
    expect(title).toHaveLength('--title='.length + 250);
    expect(body).toMatch(/^--body=本{20000}\n\n…$/);
  });

  it('takes the one that somebody opened meanwhile', async () => {
    bench.github({ mode: 'somebody-was-faster' });
    await bench.forge.push({ ...of, commit: bench.base });
    expect(await bench.forge.openPullRequest(order)).toMatchObject({ pullRequest: { url: url(1), open: true } });
  });
});

describe('refused', () => {
  it.each([
    ['logged-out', 'not logged in', 'gh auth login --hostname github.com'],
    ['garbage', 'does not understand', 'Update'],
    ['refuses', 'No commits between', 'gh pr list'],
  ])('%s', async (mode, why, next) => {
    bench.github({ mode });
    await bench.forge.push({ ...of, commit: bench.base });
    expect(await bench.forge.openPullRequest(order)).toMatchObject({
      type: 'refused',
      why: expect.stringContaining(why),
      next: expect.stringContaining(next),
    });
  });

  it('without gh, with what to install', async () => {
    bench.github({});
    const forge = bench.forgeWith({ clis: [] });
    expect(await forge.findPullRequest(of)).toMatchObject({
      type: 'refused',
      why: expect.stringContaining('not on PATH'),
      next: expect.stringContaining('https://cli.github.com'),
    });
  });

  it('for a remote that is not GitHub, or not there', async () => {
    expect(await bench.forge.findPullRequest(of)).toMatchObject({
      why: expect.stringContaining('not a repository on GitHub'),
    });
    git(bench.repository, 'remote', 'remove', 'origin');
    expect(await bench.forge.openPullRequest(order)).toMatchObject({ why: expect.stringContaining('no remote named') });
    expect(bench.calls()).toEqual([]);
  });

  it('for a base that is an option', async () => {
    bench.github({});
    expect(await bench.forge.openPullRequest({ ...order, base: '-x' })).toMatchObject({ type: 'refused' });
    expect(bench.calls()).toEqual([]);
  });
});
