import { afterAll, describe, expect, it } from 'vitest';
import { gitlabPulls } from '../../../../src/substrate/git/forge/gitlab-pulls.ts';
import { githubPulls } from '../../../../src/substrate/git/forge/github-pulls.ts';
import type { ForgePorts } from '../../../../src/substrate/git/forge/remotes.ts';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { FakePulls } from '../../../support/github/fake-pulls.ts';
import { findGh } from '../../../support/github/find-gh.ts';
import { Github } from '../../../support/github/index.ts';
import { addCheck, addPull, addReview } from '../../../support/github/pulls.ts';
import { emptyState } from '../../../support/github/state.ts';
import { glabRun } from '../../../support/gitlab/glab-run.ts';
import { ALL } from '../../../support/lane.ts';
import { pullsSuite } from './pulls-suite.ts';

describe('pull requests without a forge', () => {
  pullsSuite(async () => {
    const state = emptyState('acme', 'app');
    return { state, pulls: new FakePulls(state, 'squad-bot') };
  }, {});
});

/** By recorded answers, as GitLab's documents have them: no GitLab was asked. */
describe('merge requests of GitLab, by its documents', () => {
  const open = async () => {
    const state = emptyState('acme', 'app');
    const { run, requests } = glabRun(state, 'squad-bot');
    const ports = { processes: { run }, environment: {}, forgeCli: () => Promise.resolve('/usr/bin/glab') };
    const pulls = await gitlabPulls(ports as unknown as ForgePorts, { host: 'gitlab.com', path: 'acme/app' });
    if ('type' in pulls) throw new Error(pulls.why);
    return { state, pulls, requests, reviews: 'pull' as const };
  };
  pullsSuite(open, {});

  it('costs two requests where nothing is new', async () => {
    const { state, pulls, requests } = await open();
    await pulls.read(addPull(state, { head: 'x', base: 'main', title: 'T', body: 'B', user: 'squad-bot' }).number);
    expect(requests).toEqual(['POST graphql', 'GET projects/acme%2Fapp/repository/branches/main']);
  });

  it('asks for no merge while GitLab still checks whether it can be merged', async () => {
    const { state, pulls } = await open();
    const pull = addPull(state, { head: 'x', base: 'main', title: 'T', body: 'B', user: 'squad-bot' });
    pull.mergeState = 'UNSTABLE';
    expect(await pulls.askMerge({ number: pull.number, head: 'a'.repeat(40) })).toMatchObject({ type: 'later' });
    expect(pull.autoMerge).toBe(false);
  });

  it('takes an approval for one of this commit only if it came after it', async () => {
    const { state, pulls } = await open();
    const pull = addPull(state, { head: 'x', base: 'main', title: 'T', body: 'B', user: 'squad-bot' });
    addReview(state, pull, { user: 'ann', says: 'APPROVED' });
    state.now = () => Date.parse('2026-11-29T04:00:00Z');
    addReview(state, pull, { user: 'owner', says: 'APPROVED' });
    const read = await pulls.read(pull.number);
    expect(read.type === 'pull' && read.pull.approvals).toEqual([
      { by: 'ann', says: 'approved', commit: 'a'.repeat(40) },
      { by: 'owner', says: 'approved', commit: '' },
    ]);
  });
});

const GH = findGh();
const github = GH === undefined ? undefined : await Github.open();
afterAll(async () => github?.close());

describe.skipIf(github === undefined)(
  `pull requests of GitHub${GH === undefined ? ' (gh is not installed)' : ''}`,
  { timeout: 120_000 },
  () => {
    const open = async () => {
      if (github === undefined) throw new Error('gh is not installed');
      const ports: ForgePorts = {
        processes: createSystemProcesses({ clock: createSystemClock() }),
        environment: { PATH: process.env['PATH'], HOME: '/nonexistent', ...github.environment },
        binary: () => Promise.resolve('/usr/bin/git'),
        stateDirectory: '/nonexistent',
        forgeCli: () => Promise.resolve(GH),
      };
      const pulls = await githubPulls(ports, 'git@github.com:acme/app.git');
      if ('type' in pulls) throw new Error(pulls.why);
      return { state: github.state, pulls };
    };
    pullsSuite(open, ALL);

    it('reads the end of a log that is long, and costs one request where nothing is new', ALL, async () => {
      const { state, pulls } = await open();
      const pull = addPull(state, { head: 'squad/y', base: 'main', title: 'T', body: 'B', user: 'squad-bot' });
      const log = `${'x'.repeat(3_000_000)}\nthe end`;
      addCheck(state, { name: 'build', commit: 'a'.repeat(40), conclusion: 'FAILURE', log });
      const before = github?.requests.length ?? 0;
      const read = await pulls.read(pull.number);
      expect((github?.requests.length ?? 0) - before).toBe(1);
      if (read.type !== 'pull') throw new Error(read.why);
      const [check] = read.pull.checks;
      if (check === undefined) throw new Error('no check');
      const found = await pulls.log(check);
      if (found.type !== 'log') throw new Error(found.why);
      expect([found.text.length, found.text.endsWith('the end')]).toEqual([262_144, true]);
    });

    it('merges at once only what its rules let through', ALL, async () => {
      const { state, pulls } = await open();
      const pull = addPull(state, { head: 'squad/z', base: 'main', title: 'T', body: 'B', user: 'squad-bot' });
      pull.mergeState = 'UNSTABLE';
      await pulls.askMerge({ number: pull.number, head: 'a'.repeat(40) });
      expect([pull.state, pull.autoMerge]).toEqual(['OPEN', true]);
      pull.mergeState = 'CLEAN';
      expect(await pulls.askMerge({ number: pull.number, head: 'a'.repeat(40) })).toEqual({ type: 'asked' });
      expect(pull.state).toBe('MERGED');
    });
  },
);
