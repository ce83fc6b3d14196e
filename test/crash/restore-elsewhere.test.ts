import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { consentIn, followSteps } from '../support/damages/follow-steps.ts';
import { endTurns, LONG_FAN_OUT } from '../support/damages/room.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { effectsOf, openRunRoom, type RunRoom } from '../support/run-room.ts';
import { stateOf } from '../support/state.ts';

interface Backup {
  readonly path: string;
  readonly restore: readonly string[];
  readonly elsewhere: readonly string[];
}

/** A run that was killed between two tasks, and its backup on another disk. */
async function backedUp(): Promise<{ room: RunRoom; backup: Backup; before: readonly string[] }> {
  const room = openRunRoom(LONG_FAN_OUT);
  onTestFinished(() => room.close());
  const engine = room.begin();
  // What was paid for is settled and delivered.
  await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'both');
  engine.child.kill('SIGKILL');
  await engine.finished;
  endTurns(room);
  const target = join(room.root, 'usb', 'squad ledger.db');
  mkdirSync(dirname(target));
  const { code, stderr, lines } = await room.run(['db', 'backup', target, '--json']);
  expect(code, stderr).toBe(0);
  const backup = lines[0] as unknown as Backup;
  expect(readdirSync(`${target}.files/blobs`).length).toBeGreaterThan(0);
  return { room, backup, before: effectsOf(room) };
}

function follow(room: RunRoom, place: { cwd: string; home: string }, steps: readonly string[]): void {
  const done = followSteps({ root: room.root, ...place }, steps);
  if (done.code === 0) return;
  // A machine on which no one has agreed to the run's commands.
  const next = consentIn(done.said);
  expect(next, done.said).toEqual(expect.any(String));
  const resumed = followSteps({ root: room.root, ...place }, [next ?? '']);
  expect(resumed.code, resumed.said).toBe(0);
}

function expectWhole(room: RunRoom, repository: string, before: readonly string[]): void {
  expect(git(repository, 'show', 'squad/fan-out:both.txt')).toBe('left\nright');
  const labels = (lines: readonly string[]) =>
    lines.map((line) => line.split(' ')[0] ?? '').filter((label) => /^(?:plan|left|right)$/.test(label));
  // Each turn that was paid before the backup was had once.
  const all = labels(effectsOf(room));
  for (const label of labels(before)) expect([label, all.filter((one) => one === label).length]).toEqual([label, 1]);
  expect(labels(before)).toHaveLength(3);
}

it(
  'a backup is restored by the printed lines where the state folder is gone, and the run ends with nothing paid twice',
  { ...ALL, timeout: 240_000 },
  async () => {
    const { room, backup, before } = await backedUp();
    rmSync(stateOf(room.repository), { recursive: true });
    follow(room, { cwd: room.repository, home: room.root }, backup.restore);
    expectWhole(room, room.repository, before);
  },
);

it(
  'a backup is restored by the printed lines in a clone on another machine, and the run ends with nothing paid twice',
  { ...ALL, timeout: 240_000 },
  async () => {
    const { room, backup, before } = await backedUp();
    const [mirror, home] = [join(room.root, 'mirror.git'), join(room.root, 'elsewhere')];
    execFileSync('git', ['clone', '-q', '--mirror', room.repository, mirror]);
    mkdirSync(home);
    for (const end of ['', '.files'])
      cpSync(`${backup.path}${end}`, join(home, basename(backup.path) + end), { recursive: true });
    // The old machine is gone.
    rmSync(stateOf(room.repository), { recursive: true });
    renameSync(room.repository, `${room.repository}.gone`);
    rmSync(dirname(backup.path), { recursive: true });
    const clone = join(home, 'project');
    execFileSync('git', ['clone', '-q', mirror, clone]);
    git(clone, 'config', 'user.name', 'Test');
    git(clone, 'config', 'user.email', 'test@example.invalid');
    follow(room, { cwd: clone, home }, backup.elsewhere);
    expectWhole(room, clone, before);
    expect(existsSync(`${room.repository}.gone`)).toBe(true);
  },
);
