import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FOLLOW_KIND, followRecordSchema, type FollowRecord } from '../../src/model/forge/follow-record.ts';
import { keepFollow } from '../../src/squad/forge/follow-ports.ts';
import { bindWorkspace, lookIn, openWorkspace } from '../../src/squad/open-workspace.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { addCheck, addLine, checksOf, headOf } from '../support/github/pulls.ts';
import type { Pull } from '../support/github/state.ts';
import { git } from '../support/git.ts';
import { NIGHT } from '../support/lane.ts';
import { killAll } from '../support/marked-pids.ts';
import { createRandom } from '../support/random.ts';
import { stateOf } from '../support/state.ts';
import { testHost } from '../support/test-host.ts';
import { GH, openFollowBench } from './follow-bench.ts';
import { APPROVE_ALL, author, commits, piece, planWithCriteria } from './run-script.ts';
import { until } from './serve-bench.ts';

const AGENTS = ['planner', 'builder', 'reviewer'].map((role) => ({
  ...{ name: `${role}-1`, role, runtime: 'scripted' },
  access: role === 'builder' ? 'edit' : 'read-only',
}));
const SCRIPT = [
  author('fix-1', commits({ 'a.txt': 'better\n' })),
  planWithCriteria([piece('a')], [{ text: 'a is there', command: 'test -f a.txt' }]),
  author('a', commits({ 'a.txt': 'a\n' })),
  APPROVE_ALL,
];
const SETTINGS = {
  agents: AGENTS,
  publish: { pr: true, base: 'main', follow: true },
  forge: { intake: { by: ['owner'], max: 1 } },
};
const [SHORT_MS, LONGEST_MS] = [5_000, 15_000];

/** A process and all that it has started, by the system's table. */
function familyOf(pid: number): number[] {
  const children = (one: number): number[] => {
    try {
      const text = readFileSync(`/proc/${one}/task/${one}/children`, 'utf8').trim();
      return text === '' ? [] : text.split(' ').map(Number);
    } catch {
      return [];
    }
  };
  return [pid, ...children(pid).flatMap(familyOf)];
}

function isStep(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve\0team');
  } catch {
    return false;
  }
}

type Room = Awaited<ReturnType<typeof openRoom>>;

async function openRoom(seed: number) {
  const opened = await openFollowBench({ onTestFinished }, SCRIPT, null);
  const { bench, github, state, environment } = opened;
  const { repository, root } = bench;
  const random = createRandom(seed);
  bench.settings(SETTINGS);
  const checked = await bench.start(['serve', 'check', '--yes'], environment).finished;
  expect(checked.code, checked.stderr).toBe(0);
  const host = testHost(root, { workingDirectory: repository });
  const look = async <T>(read: (ledger: Ledger) => T): Promise<T | undefined> =>
    lookIn(await openWorkspace({ host }), (ledger) => read(ledger));
  const records = async (): Promise<FollowRecord[]> =>
    (await look((ledger) => ledger.records(FOLLOW_KIND).map(({ value }) => followRecordSchema.parse(value)))) ?? [];
  const counts = { kills: 0, alone: 0 };
  return {
    ...{ github, state, records, counts, bench },
    runs: async (): Promise<string[]> => (await look((ledger) => ledger.runs().map(({ name }) => name))) ?? [],
    /** The pauses of the service are over; it is started, and killed. */
    kill: async (): Promise<void> => {
      rmSync(join(stateOf(repository), 'service', 'issues.json'), { force: true });
      const place = bindWorkspace(await openWorkspace({ host }));
      for (const record of await records()) await keepFollow(place, { ...record, next: 0 });
      const { child } = bench.start(['serve'], environment);
      const { pid } = child;
      if (pid === undefined) throw new Error('it did not start');
      // Sometimes before it works, mostly while it is at the forge, and sometimes while a run is at work.
      if (random() > 0.1) await Promise.race([once(child.stdout ?? child, 'data'), sleep(30_000)]);
      await sleep(random() * (random() < 0.3 ? LONGEST_MS : SHORT_MS));
      const family = familyOf(pid);
      const alone = random() < 0.3;
      killAll(alone ? [pid] : family);
      counts.kills += 1;
      counts.alone += alone ? 1 : 0;
      // What it had begun at the forge ends by itself; an engine works on, beside the next service.
      const steps = family.filter(isStep);
      await until(
        () => steps.every((one) => !isStep(one)),
        () => steps,
      );
    },
  };
}

/** What is at the forge and on record, however often the service was killed. */
async function expectOnce({ state, runs, github }: Room, numbers: readonly number[], main: string): Promise<void> {
  const own = (posts: readonly { readonly user: string; readonly body: string }[]): string[] =>
    posts.filter(({ user }) => user === 'squad-bot').map(({ body }) => body.split('\n')[0] ?? '');
  for (const issue of state.issues.values()) {
    expect(issue.labels).not.toContain('squad:failed');
    const markers = own(issue.comments);
    expect(markers, `posts at ${issue.number}`).toEqual([...new Set(markers)]);
  }
  for (const pull of state.pulls.values()) {
    const markers = own(pull.lines);
    expect(markers, `answers at ${pull.number}`).toEqual([...new Set(markers)]);
    const commitsOf = git(state.bare, 'rev-list', '--count', `${main}..refs/heads/${pull.head}`);
    expect(Number(commitsOf), `commits of ${pull.head}`).toBeLessThanOrEqual(2);
  }
  const heads = [...state.pulls.values()].map(({ head }) => head);
  expect(heads).toEqual([...new Set(heads)]);
  for (const { name, commit } of state.checks)
    expect(state.checks.filter((one) => one.name === name && one.commit === commit).length).toBeLessThanOrEqual(2);
  expect((await runs()).length).toBeLessThanOrEqual(numbers.length);
  expect(git(state.bare, 'rev-parse', 'main')).toBe(main);
  // Nothing but its own branches, comments and labels, and the pull requests of these.
  const written = github.requests.filter((one) => !/^(?:GET |POST graphql$)/.test(one));
  const allowed = /\/(?:issues|pulls)(?:\/|$)|\/actions\/jobs\/\d+\/rerun$|\/labels$/;
  expect(written.filter((one) => !allowed.test(one))).toEqual([]);
}

describe.skipIf(GH === undefined)(
  `the service beside a forge${GH === undefined ? ' (gh is not installed)' : ''}`,
  () => {
    it(
      'killed at any moment, it takes, posts, pushes and answers nothing twice, and loses nothing',
      { ...NIGHT, timeout: 10_800_000 },
      async () => {
        const most = Number(process.env['SQUAD_TEST_KILLS'] ?? 300);
        const room = await openRoom(Number(process.env['SQUAD_TEST_SEED'] ?? 39));
        const { state, github, records, kill, counts } = room;
        const main = git(state.bare, 'rev-parse', 'main');
        const numbers: number[] = [];
        const ends: string[] = [];
        const begin = (): void => {
          const number = Math.max(0, ...state.issues.keys()) + 1;
          numbers.push(number);
          github.addIssue({ number, title: `Fix ${number}`, body: 'It is broken.', user: 'mallory' });
          github.label(number, 'squad', 'owner');
        };
        const pullOf = (number: number): Pull | undefined =>
          [...state.pulls.values()].find(({ head }) => head === `squad/issue-${number}-fix-${number}`);
        const progress = (): void =>
          void process.stderr.write(
            `kills ${counts.kills}, of the service alone ${counts.alone}, whole ways ${ends.length}\n`,
          );
        begin();
        for (let left = most * 2 + 60; left > 0 && (counts.kills < most || numbers.length > ends.length); left -= 1) {
          await kill();
          await expectOnce(room, numbers, main);
          if (counts.kills % 10 === 0) progress();
          const number = numbers.at(-1) ?? 0;
          const pull = pullOf(number);
          const record = (await records()).find((one) => one.number === pull?.number);
          if (pull === undefined || record === undefined) continue;
          const head = headOf(state, pull);
          if (pull.lines.length === 0) {
            addLine(state, pull, { user: 'owner', body: 'Make it better', path: 'a.txt', line: 1 });
            addCheck(state, { name: 'build', commit: head, conclusion: 'FAILURE', log: 'boom' });
          }
          for (const check of checksOf(state, head))
            if (check.status !== 'COMPLETED') Object.assign(check, { status: 'COMPLETED', conclusion: 'FAILURE' });
          if (pull.lines.some(({ user }) => user === 'squad-bot')) pull.state = 'MERGED';
          const labels = state.issues.get(number)?.labels ?? [];
          if (record.state !== 'merged' || !labels.includes('squad:done')) continue;
          expect(labels.filter((label) => label.startsWith('squad:'))).toEqual(['squad:done']);
          expect(pull.lines.filter(({ user }) => user === 'squad-bot')).toHaveLength(1);
          expect(git(state.bare, 'rev-list', '--count', `${main}..refs/heads/${pull.head}`)).toBe('2');
          expect(record.rounds).toBe(1);
          ends.push(pull.head);
          if (counts.kills < most) begin();
        }
        progress();
        expect(counts.kills).toBeGreaterThanOrEqual(most);
        expect(ends).toHaveLength(numbers.length);
      },
    );
  },
);
