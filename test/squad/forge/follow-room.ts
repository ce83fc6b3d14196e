import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  FOLLOW_KIND,
  followRecordSchema,
  newFollow,
  type FollowRecord,
} from '../../../src/model/forge/follow-record.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { storedKey } from '../../../src/squad/command-key.ts';
import { keepFollow } from '../../../src/squad/forge/follow-ports.ts';
import { stepFollow } from '../../../src/squad/forge/step-follow.ts';
import {
  bindWorkspace,
  lookIn,
  openWorkspace,
  withLedger,
  type OpenedWorkspace,
} from '../../../src/squad/open-workspace.ts';
import { issueObjective } from '../../../src/squad/preflight/issue.ts';
import { submit } from '../../../src/squad/submit.ts';
import { commandRoom } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { FakePulls } from '../../support/github/fake-pulls.ts';
import { addPull, touch } from '../../support/github/pulls.ts';
import { emptyState, type GithubState, type Pull } from '../../support/github/state.ts';
import { testHost } from '../../support/test-host.ts';
import { AGENTS, endRun } from './intake-room.ts';

const ISSUE = { number: 1, title: 'Fix it', body: 'It is broken.', url: 'https://github.com/acme/app/issues/1' };
const FAKE_GH = fileURLToPath(new URL('../../fixtures/forge/fake-gh.mjs', import.meta.url));

export interface FollowRoom {
  readonly state: GithubState;
  readonly fake: FakePulls;
  readonly pull: Pull;
  readonly workspace: OpenedWorkspace;
  readonly said: string[];
  /** What the run was asked for, by the number of its round. */
  readonly asked: Map<number, readonly string[]>;
  pass(ms: number): void;
  now(): number;
  step(): Promise<number | undefined>;
  record(): FollowRecord;
  /** Its run ends with this commit, which is pushed. */
  finish(commit: string, more?: Parameters<typeof endRun>[2]): Promise<void>;
  /** Whether its run is open. */
  isAtWork(): boolean;
  /** Bodies of squad's comments. */
  posts(): string[];
}

/** A run that is over and whose pull request is followed, and a forge without a network. No engine drives it: the test says how it ends. */
export async function followRoom(
  follow: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): Promise<FollowRoom> {
  const { root, repository, script } = commandRoom();
  const settings = { runtimes: { scripted: { config: { script: script({ turns: [] }) } } }, agents: AGENTS };
  const publish = { pr: true, base: 'main', follow: { by: ['owner', 'member'], ...follow }, ...more };
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ ...settings, publish }));
  git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'settings');
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(FAKE_GH, join(bin, 'gh'));
  writeFileSync(join(root, 'github.json'), JSON.stringify({ branches: '', pulls: [] }));
  const environment = { PATH: `${bin}:${process.env['PATH']}`, HOME: root, XDG_STATE_HOME: join(root, 'state') };
  const host = testHost(root, { workingDirectory: repository, environment });
  const opened = bindWorkspace(await openWorkspace({ host }));
  let ahead = 0;
  const clock = { ...opened.composition.clock, now: () => Date.now() + ahead };
  const workspace = { ...opened, composition: { ...opened.composition, clock } };
  const { runId, name } = await submit(workspace, issueObjective(ISSUE), { trust: 'yes' });
  const state = emptyState('acme', 'app');
  state.now = () => clock.now();
  const users = { owner: 'admin', ann: 'write', mallory: 'none', bot: 'write' } as const;
  for (const [login, permission] of Object.entries(users))
    state.users.set(login, { login, id: state.users.size, permission });
  const pull = addPull(state, { head: `squad/${name}`, base: 'main', title: 'T', body: 'B', user: 'bot' });
  const fake = new FakePulls(state, 'bot');
  const [said, asked] = [[] as string[], new Map<number, readonly string[]>()];
  const finish: FollowRoom['finish'] = async (commit, end = {}) => {
    await endRun(workspace, name, end, commit);
    pull.sha = commit;
    touch(state, pull);
  };
  await finish(pull.sha);
  const of = { run: runId, name, number: pull.number, remote: 'origin', head: pull.sha, secret: 'canary-secret' };
  await keepFollow(workspace, newFollow(of, clock.now()));
  const rework = async (place: OpenedWorkspace, { round }: FollowRecord): Promise<void> => {
    const number = round?.number ?? 0;
    const key = storedKey(runId, `round ${number}`);
    await withLedger(place, 'write', (ledger) => ledger.command(runId, 'rework', { problems: [] }, 'squad', key));
    asked.set(number, round?.problems ?? []);
  };
  const connect = async () => ({ pulls: fake, fetch: async () => ({ type: 'found' as const }) });
  const record = (): FollowRecord =>
    followRecordSchema.parse(lookIn(workspace, (ledger) => ledger.record(FOLLOW_KIND, runId)?.value));
  return {
    ...{ state, fake, pull, workspace, said, asked, finish, record },
    pass: (ms) => void (ahead += ms),
    now: () => clock.now(),
    step: async () => {
      ahead += 121_000;
      return stepFollow(workspace, (text) => void said.push(text), { connect, rework });
    },
    isAtWork: () =>
      lookIn(workspace, (ledger) => ledger.newest(runId, ['operator-command', RUN_EVENTS.ended])?.type) !==
      RUN_EVENTS.ended,
    posts: () => {
      const own = [...pull.lines, ...(state.issues.get(pull.number)?.comments ?? [])];
      return own.filter(({ user }) => user === 'bot').map(({ body }) => body);
    },
  };
}
