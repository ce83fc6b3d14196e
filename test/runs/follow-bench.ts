import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { FOLLOW_KIND, followRecordSchema, type FollowRecord } from '../../src/model/forge/follow-record.ts';
import { keepFollow } from '../../src/squad/forge/follow-ports.ts';
import { bindWorkspace, openWorkspace } from '../../src/squad/open-workspace.ts';
import { findGh } from '../support/github/find-gh.ts';
import { Github } from '../support/github/index.ts';
import type { Pull } from '../support/github/state.ts';
import { git } from '../support/git.ts';
import { testHost } from '../support/test-host.ts';
import { openRunBench } from './run-bench.ts';
import type { Entry } from './run-script.ts';

export const GH = findGh();
export const CANARY = 'canary-7f3a91c0de55ab12';
const BEFORE = 600_000;
const PUBLISH = {
  ...{ pr: true, base: 'main', reviewers: ['owner'], labels: ['by squad'] },
  ...{ follow: { rounds: 5 }, merge: 'when-approved' },
};

/** By default its pull request is followed. */
export async function openFollowBench(
  test: Pick<TestContext, 'onTestFinished'>,
  script: readonly Entry[],
  publish: Record<string, unknown> | null = PUBLISH,
) {
  const github = await Github.open();
  const { state } = github;
  for (const [login, permission] of [
    ['owner', 'admin'],
    ['mallory', 'none'],
  ] as const)
    github.addUser({ login, permission });
  state.labels.add('by squad');
  // What is said there is no longer new.
  state.now = () => Date.now() - BEFORE;
  const bench = openRunBench({ script, settings: publish === null ? {} : { publish } });
  test.onTestFinished(async () => {
    bench.end();
    await github.close();
  });
  const { root, repository } = bench;
  state.bare = join(root, 'app.git');
  git(root, 'init', '-q', '--bare', state.bare);
  git(state.bare, 'config', 'http.receivepack', 'true');
  git(repository, 'push', '-q', state.bare, 'main');
  git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(repository, 'config', 'http.sslCAInfo', github.authority);
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(GH ?? '', join(bin, 'gh'));
  const environment = { PATH: `${bin}:${process.env['PATH']}`, CANARY_TOKEN: CANARY, ...github.environment };
  const host = testHost(root, { workingDirectory: repository });
  const record = (): FollowRecord | undefined => {
    const ledger = bench.ledger();
    const [found] = ledger.records(FOLLOW_KIND);
    ledger.close();
    return found === undefined ? undefined : followRecordSchema.parse(found.value);
  };
  return {
    ...{ bench, github, state, record, environment },
    /** As the service does it, once its pause is over. */
    step: async (changes: (now: FollowRecord) => Partial<FollowRecord> = () => ({})): Promise<string> => {
      const now = record();
      const place = bindWorkspace(await openWorkspace({ host }));
      if (now !== undefined) await keepFollow(place, { ...now, next: 0, ...changes(now) });
      const { stdout, stderr, code } = await bench.start(['serve', 'team'], environment).finished;
      expect(code, stderr).toBe(0);
      return stdout;
    },
    drive: async (): Promise<void> => {
      const { code, stdout, stderr } = await bench.start(['resume', '--all', '--json'], environment).finished;
      expect(code, `${stderr}${stdout.slice(-2_000)}`).toBe(0);
    },
    whole: (): Pull => {
      const found = [...state.pulls.values()].find(({ head }) => head === 'squad/make-things');
      if (found === undefined) throw new Error('no pull request');
      return found;
    },
  };
}
