import { afterAll, describe } from 'vitest';
import { githubIssues } from '../../../../src/substrate/git/forge/github-issues.ts';
import type { ForgePorts } from '../../../../src/substrate/git/forge/remotes.ts';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { FakeIssues } from '../../../support/github/fake-issues.ts';
import { findGh } from '../../../support/github/find-gh.ts';
import { Github } from '../../../support/github/index.ts';
import { emptyState } from '../../../support/github/state.ts';
import { ALL } from '../../../support/lane.ts';
import { issuesSuite } from './issues-suite.ts';

describe('issues without a forge', () => {
  issuesSuite(async () => {
    const state = emptyState('acme', 'app');
    const issues = new FakeIssues(state, 'squad-bot');
    return {
      state,
      issues,
      fail: (how) => {
        const limit = { type: 'later', why: 'a limit', afterMs: 1_000 } as const;
        issues.fault = () => (how === 'limit' ? limit : how);
      },
    };
  }, {});
});

const GH = findGh();
const github = GH === undefined ? undefined : await Github.open();
afterAll(async () => github?.close());

describe.skipIf(github === undefined)(`issues of GitHub${GH === undefined ? ' (gh is not installed)' : ''}`, () => {
  issuesSuite(async () => {
    if (github === undefined) throw new Error('gh is not installed');
    const ports: ForgePorts = {
      processes: createSystemProcesses({ clock: createSystemClock() }),
      environment: { PATH: process.env['PATH'], HOME: '/nonexistent', ...github.environment },
      binary: () => Promise.resolve('/usr/bin/git'),
      stateDirectory: '/nonexistent',
      forgeCli: () => Promise.resolve(GH),
    };
    const issues = await githubIssues(ports, 'git@github.com:acme/app.git');
    if ('type' in issues) throw new Error(issues.why);
    return {
      state: github.state,
      issues,
      fail: (how) => {
        const isWrite = ({ method, path }: { method: string; path: string }): boolean =>
          method === 'POST' && path !== 'graphql';
        github.fault = (request) =>
          how === 'limit' ? 'limit' : how === 'cut' && isWrite(request) ? 'cut-after' : undefined;
      },
    };
  }, ALL);
});
