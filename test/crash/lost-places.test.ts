// @module-tag all
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { git } from '../support/git.ts';
import { ALL, LANE, spread } from '../support/lane.ts';
import { livingTurns } from '../support/marked-pids.ts';
import { createRandom } from '../support/random.ts';
import { driveToEnd, effectsOf, endStateOf, inRunRoom, type EndState, type RunRoom } from '../support/run-room.ts';
import { fanOut } from '../support/run-scenarios.ts';
import { stateOf } from '../support/state.ts';

/** Long enough that every disturbance meets agents at work. */
const SCENARIO = fanOut(400);

/** What a person does in a checkout while agents work, and what is where afterwards. */
interface Disturbance {
  /** `killed`: the engine was, before. Returns the checkout in which the run continues. */
  act(room: RunRoom, killed: boolean): Promise<string> | string;
  /** The engine has to notice, and leave with 75 and without agents. Otherwise it goes on. */
  readonly ends: boolean;
  /** Without a living engine nothing brings back what is lost: the moment is not tried. */
  readonly onlyLiving?: true;
  /** The latest moment, as a part of the run, so that the engine still is at work when it happens; the end if absent. */
  readonly until?: number;
}

const same = ({ repository }: RunRoom): string => repository;

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  'git clean -fdx': {
    ends: false,
    act: (room) => {
      git(room.repository, 'clean', '-fdxq', '-e', 'squad.yaml');
      return same(room);
    },
  },
  'git stash --all': {
    ends: false,
    act: (room) => {
      git(room.repository, 'stash', 'push', '--all', '--quiet');
      git(room.repository, 'stash', 'pop', '--quiet');
      return same(room);
    },
  },
  'rm -rf .squad': {
    ends: false,
    act: (room) => {
      rmSync(join(room.repository, '.squad'), { recursive: true, force: true });
      return same(room);
    },
  },
  'rm -rf .git/squad': {
    ends: false,
    act: async (room, killed) => {
      const directory = stateOf(room.repository);
      rmSync(join(room.repository, '.git', 'squad'), { recursive: true, force: true });
      if (!killed) return same(room);
      // A living engine writes the id again. Without one, the repository is unknown until a person names its state.
      const adopted = await room.start(['state', '--adopt', directory]).finished;
      expect(adopted.code, adopted.stderr).toBe(0);
      // Nobody has agreed to what was taken over.
      const { code, stderr } = await room.resume({}, ['--yes']).finished;
      expect(code, stderr).toBe(0);
      return same(room);
    },
  },
  'cp -a of the checkout': {
    ends: false,
    act: async (room) => {
      const copy = join(room.root, 'copy');
      execFileSync('cp', ['-a', room.repository, copy]);
      const { code, stderr } = await room.start(['resume'], {}, [], copy).finished;
      expect(code, stderr).toBe(2);
      expect(stderr).toContain('This is a copy of the repository at');
      return same(room);
    },
  },
  'a run in a second worktree': {
    ends: false,
    until: 0.5,
    act: async (room, killed) => {
      const other = join(room.root, 'other');
      git(room.repository, 'worktree', 'add', '-q', '--detach', other);
      cpSync(join(room.repository, 'squad.yaml'), join(other, 'squad.yaml'));
      // A run that no engine drives continues there.
      const { code, stderr } = await room.start(['resume', '--json'], {}, [], other).finished;
      expect(code, stderr).toBe(killed ? 0 : 75);
      git(room.repository, 'worktree', 'remove', '--force', other);
      return same(room);
    },
  },
  'mv of the checkout': {
    ends: true,
    act: ({ repository }) => {
      const moved = `${repository}-moved`;
      renameSync(repository, moved);
      return moved;
    },
  },
  'the ledger is deleted': {
    ends: true,
    onlyLiving: true,
    until: 0.9,
    act: (room) => {
      const directory = stateOf(room.repository);
      for (const name of ['squad.db', 'squad.db-wal', 'squad.db-shm']) rmSync(join(directory, name), { force: true });
      return same(room);
    },
  },
};

/** The run after a disturbance at a moment of it, in the same place at the end; what went wrong. */
async function disturbed(name: string, afterMs: number, kills: boolean, reference: EndState): Promise<string[]> {
  const { act, ends } = DISTURBANCES[name] ?? { act: same, ends: false };
  return inRunRoom(SCENARIO, async (room) => {
    const engine = room.begin();
    await engine.line(({ type }) => type === 'run-started');
    await sleep(afterMs);
    if (engine.child.exitCode !== null) return [];
    const directory = stateOf(room.repository);
    if (kills) {
      engine.child.kill('SIGKILL');
      await engine.finished;
    }
    const where = await act(room, kills);
    const first = await engine.finished;
    // After the engine's last look at it, nobody writes the id again.
    if (!existsSync(join(where, '.git', 'squad'))) await room.start(['state', '--adopt', directory]).finished;
    const problems: string[] = [];
    if (!kills && ends && first.code !== 0 && first.code !== 75)
      problems.push(`it ended with ${first.code}: ${first.stderr}`);
    if (!kills && !ends && first.code !== 0) problems.push(`it ended with ${first.code}: ${first.stderr}`);
    if (!kills) problems.push(...livingTurns(directory).map((pid) => `an agent lives: ${pid}`));
    for (let tries = 0; tries < 3; tries += 1) {
      const { code } = await room.start(['resume', '--json'], {}, [], where).finished;
      if (code === 0 || code === 2) break;
    }
    if (where !== room.repository) {
      // A git that was moving a ref at that moment makes empty folders at the old place.
      if (!existsSync(join(room.repository, '.git', 'HEAD'))) rmSync(room.repository, { recursive: true, force: true });
      renameSync(where, room.repository);
    }
    const [end, lines] = [endStateOf(room), effectsOf(room)];
    if (end.tree !== reference.tree) problems.push('the work is another');
    if (end.outcome !== reference.outcome) problems.push(`the outcome is ${end.outcome}`);
    if (JSON.stringify(end.tasks) !== JSON.stringify(reference.tasks)) problems.push(end.tasks.join('; '));
    if (!ends) problems.push(...lines.filter((line, at) => lines.indexOf(line) !== at).map((line) => `twice: ${line}`));
    const check = checkLedger(ledgerPath(directory));
    problems.push(...check.problems, ...check.violations.map(({ message }) => message));
    problems.push(...livingTurns(directory).map((pid) => `a process is left: ${pid}`));
    return problems.map((problem) => `${name} after ${afterMs} ms${kills ? ', killed' : ''}: ${problem}`);
  });
}

/** How the run ends that no one disturbs, and how long it takes. */
async function undisturbed(): Promise<{ reference: EndState; ms: number }> {
  return inRunRoom(SCENARIO, async (room) => {
    const engine = room.begin();
    await engine.line(({ type }) => type === 'run-started');
    const since = performance.now();
    await engine.finished;
    return { reference: endStateOf(room), ms: performance.now() - since };
  });
}

const TRIALS = trialsOf({ commit: spread(1, 2), nightly: 50, release: 50 });

/** A run takes ten seconds: `npm run test:all` draws a quarter of the rows, other ones each time. */
const ROWS = Object.keys(DISTURBANCES).filter((_, index) => LANE !== 'all' || (index + chaosSeed()) % 4 === 0);

it.each(ROWS)(
  'T26 %s at random moments of a run, killed or not: the same end, and nothing paid twice',
  { ...ALL, timeout: 30 * 60_000 },
  async (name) => {
    const seed = chaosSeed();
    const random = createRandom(seed);
    const { reference, ms } = await undisturbed();
    const failures: string[] = [];
    const { onlyLiving = false, until = 1 } = DISTURBANCES[name] ?? {};
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const kills = (seed + trial) % 2 === 1 && !onlyLiving;
      failures.push(...(await disturbed(name, Math.floor(random() * ms * until), kills, reference)));
    }
    reportTrials({ fault: `T26 ${name}`, trials: TRIALS, failures: failures.length, bound: '0 failures', seed });
    expect(failures).toEqual([]);
  },
);

it('a ledger that is deleted while the run ends is there again, with the run', ALL, async () => {
  await inRunRoom(SCENARIO, async (room) => {
    const engine = room.begin();
    await engine.line(({ type, next }) => type === 'decided' && next === 'finish');
    const ledger = ledgerPath(stateOf(room.repository));
    rmSync(ledger);
    const { code, stderr } = await engine.finished;
    // Whether the engine sees it at its next beat or at its end is chance.
    expect([0, 75], stderr).toContain(code);
    if (code === 75) expect((await room.resume().finished).code).toBe(0);
    expect(endStateOf(room).outcome).toBe('done');
    expect(checkLedger(ledger).problems).toEqual([]);
  });
});

it('a checkout that is moved while its run ends ends it where it is then', ALL, async () => {
  await inRunRoom(SCENARIO, async (room) => {
    const engine = room.begin();
    await engine.line(({ type, next }) => type === 'decided' && next === 'finish');
    const moved = `${room.repository}-moved`;
    renameSync(room.repository, moved);
    const { code, stderr } = await engine.finished;
    // Whether the work was looked at by then is chance.
    expect([0, 75], stderr).toContain(code);
    const again = await room.start(['resume', '--json'], {}, [], moved).finished;
    expect(again.code, again.stderr).toBe(code === 0 ? 2 : 0);
    rmSync(room.repository, { recursive: true, force: true });
    renameSync(moved, room.repository);
    expect(endStateOf(room).outcome).toBe('done');
  });
});

it('squad’s note in the git directory that is deleted while the run ends is there again', ALL, async () => {
  await inRunRoom(SCENARIO, async (room) => {
    const engine = room.begin();
    await engine.line(({ type, next }) => type === 'decided' && next === 'finish');
    rmSync(join(room.repository, '.git', 'squad'), { recursive: true });
    expect((await engine.finished).code).toBe(0);
    expect(endStateOf(room).outcome).toBe('done');
  });
});

it('a repository’s own .squad, a link or a folder with files of its own, stays as it is and is not read', async () => {
  await inRunRoom(SCENARIO, async (room) => {
    const own = join(room.repository, '.squad', 'runs');
    execFileSync('mkdir', ['-p', own]);
    writeFileSync(join(own, 'mine.md'), 'mine\n');
    writeFileSync(join(room.repository, '.squad', 'squad.db'), 'not a ledger');
    const { last } = await driveToEnd(room);
    expect(last.code, last.stderr).toBe(0);
    expect(readFileSync(join(own, 'mine.md'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(room.repository, '.squad', 'squad.db'), 'utf8')).toBe('not a ledger');
    expect(existsSync(join(stateOf(room.repository), 'runs'))).toBe(true);
  });
});
