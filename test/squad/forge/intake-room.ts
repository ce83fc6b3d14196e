import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ISSUE_KIND, issueRecordSchema, type IssueRecord } from '../../../src/model/forge/issue-record.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { bindWorkspace, lookIn, openWorkspace, type OpenedWorkspace } from '../../../src/squad/open-workspace.ts';
import { stepForge } from '../../../src/squad/forge/step-forge.ts';
import { readHistory } from '../../../src/view/read-run.ts';
import type { RunView } from '../../../src/view/run-view.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { plainJson } from '../../../src/text/json.ts';
import { listUnfinished } from '../../../src/view/unfinished.ts';
import { lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { commandRoom } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { FakeIssues } from '../../support/github/fake-issues.ts';
import { addComment, setLabel } from '../../support/github/issues.ts';
import { emptyState, type GithubState, type Issue } from '../../support/github/state.ts';
import { testHost } from '../../support/test-host.ts';

export const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4)}`;

export interface IntakeRoom {
  readonly state: GithubState;
  readonly fake: FakeIssues;
  readonly workspace: OpenedWorkspace;
  readonly said: string[];
  /** Moves both clocks on. */
  pass(ms: number): void;
  issue(number: number, more?: { title?: string; body?: string; user?: string; labels?: readonly string[] }): Issue;
  label(number: number, label: string, actor: string, on?: boolean): void;
  comment(number: number, user: string, body: string): void;
  /** A step of the service's child, once the forge is to be looked at again. */
  step(): Promise<number | undefined>;
  records(): IssueRecord[];
  /** Names of runs that are not over. */
  open(): string[];
  allRuns(): string[];
  /** Bodies of squad's comments. */
  posts(number: number): string[];
  end(run: string, more?: Partial<RunView['end']>): Promise<void>;
}

/** A repository that takes issues, and a forge without a network. Runs are real and queued; no engine drives them. */
export async function intakeRoom(intake: Record<string, unknown> = {}, isAgreed = true): Promise<IntakeRoom> {
  const { root, repository, run, script } = commandRoom();
  const settings = { runtimes: { scripted: { config: { script: script({ turns: [] }) } } }, agents: AGENTS };
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ ...settings, forge: { intake } }));
  git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'settings');
  const host = testHost(root, { workingDirectory: repository, configHome: join(root, '.config') });
  const opened = bindWorkspace(await openWorkspace({ host }));
  let ahead = 0;
  const clock = { ...opened.composition.clock, now: () => Date.now() + ahead };
  const workspace = { ...opened, composition: { ...opened.composition, clock } };
  if (isAgreed) {
    const checked = await run(['serve', 'check', '--yes']);
    if (checked.code !== 0) throw new Error(checked.stderr);
  }
  const state = emptyState('acme', 'app');
  state.now = () => clock.now();
  const users = { owner: 'admin', ann: 'write', tess: 'triage', bot: 'write' } as const;
  for (const [login, permission] of Object.entries(users))
    state.users.set(login, { login, id: state.users.size, permission });
  const fake = new FakeIssues(state, 'bot');
  const said: string[] = [];
  const issueOf = (number: number): Issue => {
    const issue = state.issues.get(number);
    if (issue === undefined) throw new Error(`no issue ${number}`);
    return issue;
  };
  const unfinished = () => lookIn(workspace, (ledger, lockedBy, now) => listUnfinished(ledger, lockedBy, now)) ?? [];
  return {
    ...{ state, fake, workspace, said },
    pass: (ms) => void (ahead += ms),
    issue: (number, { title = `Fix ${number}`, body = 'It is broken.', user = 'mallory', labels = [] } = {}) => {
      const at = new Date(clock.now()).toISOString();
      const made: Issue = {
        ...{ number, title, body, user, state: 'open', labels: [...labels], comments: [], events: [] },
        ...{ created_at: at, updated_at: at },
      };
      state.issues.set(number, made);
      return made;
    },
    label: (number, label, actor, on = true) => setLabel(state, issueOf(number), { label, actor, on }),
    comment: (number, user, body) => void addComment(state, issueOf(number), user, body),
    step: async () => {
      ahead += 121_000;
      return stepForge(
        workspace,
        (text) => void said.push(text),
        async () => fake,
      );
    },
    records: () =>
      lookIn(workspace, (ledger) => ledger.records(ISSUE_KIND).map(({ value }) => issueRecordSchema.parse(value))) ??
      [],
    open: () => unfinished().map(({ name }) => name),
    allRuns: () => lookIn(workspace, (ledger) => ledger.runs().map(({ name }) => name)) ?? [],
    posts: (number) =>
      issueOf(number)
        .comments.filter(({ user }) => user === 'bot')
        .map(({ body }) => body),
    end: async (run, more = {}) => endRun(workspace, run, more),
  };
}

export const AGENTS = ['planner', 'builder', 'reviewer'].map((role) => ({
  ...{ name: `${role}-1`, role, runtime: 'scripted' },
  access: role === 'builder' ? 'edit' : 'read-only',
}));

/** As its last engine leaves one that is over. */
export async function endRun(
  workspace: OpenedWorkspace,
  name: string,
  end: Partial<RunView['end']>,
  delivered?: string,
): Promise<void> {
  const { directory, composition } = workspace;
  const { clock } = composition;
  const lock = lockWorkspace(directory, { pid: process.pid, host: 'test', since: clock.now() });
  const ledger = openLedger(directory, { clock, redactor: composition.redactor, lock });
  try {
    const id = ledger.run(name)?.id ?? '';
    const view = viewOf(readHistory(ledger, id, null), { now: clock.now() });
    const whole = { outcome: 'done', headline: 'It is done.', why: '', exitCode: 0, head: null, made: false };
    const plan = { ...view.plan, ...(delivered === undefined ? {} : { delivered }) };
    const ended = {
      ...view,
      plan,
      run: { ...view.run, need: null },
      end: { ...whole, again: [], hasWork: true, ...end },
    };
    const lease = ledger.acquireLease(id, 'test');
    ledger.note(lease, RUN_EVENTS.ended, plainJson(ended));
    ledger.releaseLease(lease);
  } finally {
    ledger.close();
    lock.release();
  }
}
