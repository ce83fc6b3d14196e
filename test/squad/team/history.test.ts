import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { bindWorkspace, openWorkspace } from '../../../src/squad/open-workspace.ts';
import { writeTeamFiles } from '../../../src/squad/team/write-team-files.ts';
import { holderHere, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { plainJson } from '../../../src/text/json.ts';
import { CLI_ENTRY } from '../../support/cli-entry.ts';
import { createRepository } from '../../support/git.ts';
import { NIGHT } from '../../support/lane.ts';
import { recordsAfter } from '../../support/team-records.ts';
import { testHost } from '../../support/test-host.ts';

const TEAM = { folder: 'team', timezone: 'Asia/Seoul' };
/** Of the runs of a sprint and of a planner. A sprint of two todos that was really played has about 700 in all. */
const EVENTS = { 'run-': 700, 'plan-': 50 };
const A_TURN = { taskId: 'b-change-build', number: 1, kind: 'turn', outcome: 'completed', text: 'x'.repeat(600) };

type History = Parameters<typeof recordsAfter>[0];

/** A repository whose ledger has a team of so many sprints, with the runs of all of them. */
async function roomAfter(sprints: number) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-history-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'), {
    'squad.yaml': JSON.stringify({ version: 1, sprint: TEAM }),
  });
  const workspace = bindWorkspace(await openWorkspace({ host: testHost(root, { workingDirectory: repository }) }));
  const { directory, composition } = workspace;
  const lock = lockWorkspace(directory, holderHere(process.pid, composition.clock.now()));
  const ledger = openLedger(directory, { ...composition, lock });
  const play = (run: string, isOver: boolean): void => {
    ledger.createRun({ id: run, name: run });
    const lease = ledger.acquireLease(run, 'test');
    const count = run.startsWith('plan-') ? EVENTS['plan-'] : EVENTS['run-'];
    for (let left = count; left > 0; left -= 1) ledger.append(run, 'a-turn', A_TURN);
    if (isOver) ledger.append(run, RUN_EVENTS.ended, { outcome: 'done' });
    ledger.releaseLease(lease);
  };
  const record = (history: History): void =>
    ledger.transact(() => {
      for (const [kind, all] of recordsAfter(history)) {
        for (const [id, value] of all) ledger.writeRecord({ kind, id, value: plainJson(value) });
      }
    });
  for (let number = 0; number < sprints; number += 1) {
    ledger.transact(() => {
      play(`run-${number}`, number < sprints - 1);
      play(`plan-${number}`, true);
      const requests = [0, 1, 2].map((place) => `r-${String(number * 3 + place).padStart(8, '0')}`);
      const review = { run: `plan-${number}`, requests, findings: [], at: number };
      ledger.writeRecord({ kind: KINDS.review, id: `plan-${number}`, value: review });
    });
  }
  record({ sprints, active: true });
  ledger.close();
  lock.release();
  const folder = join(repository, TEAM.folder);
  return { root, repository, directory, folder, write: () => writeTeamFiles(workspace, TEAM) };
}

type Room = Awaited<ReturnType<typeof roomAfter>>;

/** Processor time of a whole command, of the least of several: a busy machine changes little about it. */
function commandMs({ root, repository }: Room, args: readonly string[]): number {
  const times = Array.from({ length: 5 }, () => {
    const { stdout, status, stderr } = spawnSync(
      'sh',
      ['-c', '"$@" >"$OUTPUT" || exit; times', 'sh', process.execPath, CLI_ENTRY, ...args],
      {
        cwd: repository,
        encoding: 'utf8',
        env: {
          ...{ PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') },
          ...{ OUTPUT: join(root, 'output'), NODE_COMPILE_CACHE: join(tmpdir(), 'squad-test-compile-cache') },
        },
      },
    );
    expect(status, stderr).toBe(0);
    const seconds = [...(stdout.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
    return seconds.reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60_000 + Number(rest) * 1_000, 0);
  });
  return Math.min(...times);
}

function bytesIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

it(
  'after 30 days of a hundred sprints, commands take 0.3 s of an idle machine, and ledger and files have grown with the sprints',
  { ...NIGHT, timeout: 900_000 },
  async () => {
    const sizes: { sprints: number; ledger: number; files: number }[] = [];
    const times = new Map<string, number[]>();
    for (const sprints of [10, 55, 100]) {
      const room = await roomAfter(sprints);
      await room.write();
      sizes.push({ sprints, ledger: statSync(join(room.directory, 'squad.db')).size, files: bytesIn(room.folder) });
      if (sprints === 55) continue;
      const change = async (): Promise<number> => {
        rmSync(join(room.folder, 'shared_workspace/current_sprint.md'));
        const before = process.cpuUsage();
        const { written } = await room.write();
        const { user, system } = process.cpuUsage(before);
        expect(written).toContain('shared_workspace/current_sprint.md');
        return (user + system) / 1_000;
      };
      const add = (what: string, ms: number): unknown => times.set(what, [...(times.get(what) ?? []), ms]);
      add('squad backlog', commandMs(room, ['backlog']));
      add('squad sprint status', commandMs(room, ['sprint', 'status']));
      add('current_sprint.md', Math.min(await change(), await change(), await change()));
      add('squad --version', commandMs(room, ['--version']));
    }
    const figures = JSON.stringify({ times: Object.fromEntries(times), sizes });
    console.log(figures);
    const [, version = 0] = times.get('squad --version') ?? [];
    for (const [what, [tens = 0, hundred = Infinity] = []] of times) {
      // Five times a command that does nothing is about 0.3 s on an idle machine; a busy one charges each of them more.
      expect(hundred, `${what}: ${figures}`).toBeLessThan(Math.max(300, 5 * version));
      expect(hundred - tens, `${what}: ${figures}`).toBeLessThan(Math.max(100, 1.5 * version));
    }
    const [ten, half, all] = sizes;
    if (ten === undefined || half === undefined || all === undefined) throw new Error(figures);
    for (const what of ['ledger', 'files'] as const) {
      expect((all[what] - half[what]) / (half[what] - ten[what]), `${what}: ${figures}`).toBeLessThan(1.1);
    }
  },
);
