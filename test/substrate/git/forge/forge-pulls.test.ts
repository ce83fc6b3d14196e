import { afterAll, describe, expect, it } from 'vitest';
import { githubPulls } from '../../../../src/substrate/git/forge/github-pulls.ts';
import type { ForgePorts } from '../../../../src/substrate/git/forge/remotes.ts';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { FakePulls } from '../../../support/github/fake-pulls.ts';
import { findGh } from '../../../support/github/find-gh.ts';
import { Github } from '../../../support/github/index.ts';
import { addCheck, addPull } from '../../../support/github/pulls.ts';
import { emptyState } from '../../../support/github/state.ts';
import { ALL } from '../../../support/lane.ts';
import { pullsSuite } from './pulls-suite.ts';

describe('pull requests without a forge', () => {
  pullsSuite(async () => {
    const state = emptyState('acme', 'app');
    return { state, pulls: new FakePulls(state, 'squad-bot') };
  }, {});
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
