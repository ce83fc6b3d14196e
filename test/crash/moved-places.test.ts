// @module-tag all
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { findState } from '../../src/substrate/system/files/state-place.ts';
import { ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { git } from '../support/git.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { livingTurns } from '../support/marked-pids.ts';
import { inRunRoom, type RunRoom } from '../support/run-room.ts';
import { fanOut, REVIEW } from '../support/run-scenarios.ts';

/** Long enough that a move meets agents at work. */
const SCENARIO = fanOut(400);

/** Where a person has what a run needs. `state`: as `SQUAD_STATE` says. */
interface Places {
  /** The checkout in which the run was begun. */
  readonly checkout: string;
  /** The one that has the git directory. */
  readonly main: string;
  readonly state: string;
}

interface Layout {
  readonly lay: (room: RunRoom, other: string) => Places;
  readonly move: (places: Places, room: RunRoom, other: string) => Places;
}

const stateIn = ({ main, state }: Places): string =>
  state === 'git' ? join(main, '.git', 'squad', `state-${process.getuid?.() ?? 0}`) : state;

/** Of any two file systems, with what `mv` does then. */
function mv(from: string, to: string): string {
  execFileSync('mv', ['-T', from, to]);
  return to;
}

const together = ({ root, repository }: RunRoom): Places => {
  const place = join(root, 'place');
  mkdirSync(place);
  const main = mv(repository, join(place, 'repository'));
  return { checkout: main, main, state: join(place, 'state') };
};

const linked = (room: RunRoom): Places => {
  const places = together(room);
  const checkout = join(room.root, 'place', 'linked');
  git(places.main, 'worktree', 'add', '-q', '-b', 'side', checkout);
  for (const name of ['squad.yaml', 'objective.md']) execFileSync('cp', [join(places.main, name), checkout]);
  return { ...places, checkout };
};

const moveCheckout = ({ main, ...places }: Places): Places => {
  const moved = mv(main, `${main}-moved`);
  return { ...places, main: moved, checkout: moved };
};

const LAYOUTS: Readonly<Record<string, Layout>> = {
  'the checkout': { lay: together, move: moveCheckout },
  'the checkout, to another disk': {
    lay: together,
    move: (places, _room, other) => {
      const main = mv(places.main, join(other, 'repository'));
      return { ...places, main, checkout: main };
    },
  },
  'the checkout, with the state on another disk': {
    lay: (room, other) => ({ ...together(room), state: join(other, 'state') }),
    move: moveCheckout,
  },
  'the checkout, with SQUAD_STATE=git': { lay: (room) => ({ ...together(room), state: 'git' }), move: moveCheckout },
  'the state folder': {
    lay: together,
    move: (places) => ({ ...places, state: mv(places.state, `${places.state}-moved`) }),
  },
  'the state folder, to another disk': {
    lay: together,
    move: (places, _room, other) => ({ ...places, state: mv(places.state, join(other, 'state')) }),
  },
  'the folder of both': {
    lay: together,
    move: (_, { root }) => {
      const place = mv(join(root, 'place'), join(root, 'place-moved'));
      const main = join(place, 'repository');
      return { checkout: main, main, state: join(place, 'state') };
    },
  },
  'a linked worktree': {
    lay: linked,
    move: (places) => {
      const moved = `${places.checkout}-moved`;
      git(places.main, 'worktree', 'move', places.checkout, moved);
      return { ...places, checkout: moved };
    },
  },
  'a linked worktree, with mv': {
    lay: linked,
    move: (places) => {
      const moved = mv(places.checkout, `${places.checkout}-moved`);
      git(places.main, 'worktree', 'repair', moved);
      return { ...places, checkout: moved };
    },
  },
  'the repository of a linked worktree': {
    lay: linked,
    move: (places) => {
      const main = mv(places.main, `${places.main}-moved`);
      git(main, 'worktree', 'repair', places.checkout);
      return { ...places, main };
    },
  },
};

const MOMENTS = ['mid-run', 'killed', 'stopped'] as const;
/** No `mv` takes what is being written to another disk. */
const CASES = Object.keys(LAYOUTS)
  .flatMap((name) => MOMENTS.map((moment) => [name, moment] as const))
  .filter(([name, moment]) => name !== 'the state folder, to another disk' || moment !== 'mid-run');

/** A second file system. */
function otherDisk(root: string): string {
  const folder = mkdtempSync(join('/tmp', 'squad-moved-'));
  if (statSync(folder).dev !== statSync(root).dev) return folder;
  rmSync(folder, { recursive: true });
  return mkdtempSync(join('/dev/shm', 'squad-moved-'));
}

async function movedRun(room: RunRoom, other: string, { lay, move }: Layout, moment: (typeof MOMENTS)[number]) {
  let places = lay(room, other);
  const start = (args: readonly string[]) => room.start(args, { SQUAD_STATE: places.state }, [], places.checkout);
  const engine = start(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json']);
  // The plan is there, and agents are at work on it.
  await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'plan');
  await sleep(400);
  if (moment === 'killed') engine.child.kill('SIGKILL');
  if (moment === 'stopped') expect((await start(['stop']).finished).code).toBe(0);
  if (moment !== 'mid-run') await engine.finished;
  places = move(places, room, other);
  const first = await engine.finished;
  if (moment === 'mid-run') expect([0, 75], first.stderr).toContain(first.code);
  let last = first;
  for (let tries = 0; tries < 3 && last.code !== 0; tries += 1) last = await start(['resume', '--json']).finished;
  expect(last.code, last.stderr + last.stdout.slice(-500)).toBe(0);
  const { directory } = findState(stateIn(places), join(places.main, '.git'));
  const check = checkLedger(ledgerPath(directory));
  expect([...check.problems, ...check.violations]).toEqual([]);
  expect(livingTurns(directory)).toEqual([]);
  expect(git(places.main, 'show', 'squad/fan-out:both.txt')).toBe('left\nright');
  const merged = await start(['merge']).finished;
  expect(merged.code, merged.stderr).toBe(0);
  const dropped = await start(['drop', '--yes']).finished;
  expect(dropped.code, dropped.stderr).toBe(0);
  // Nothing is made again where the places were.
  expect(existsSync(join(room.repository, '.git', 'HEAD'))).toBe(false);
}

it.each(some(CASES, 0, 2))(
  '%s is moved, %s: the run ends as without',
  { ...SPREAD, timeout: 120_000 },
  async (name, moment) => {
    const layout = LAYOUTS[name];
    if (layout === undefined) throw new Error(name);
    await inRunRoom(SCENARIO, async (room) => {
      const other = otherDisk(room.root);
      try {
        await movedRun(room, other, layout, moment);
      } finally {
        rmSync(other, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      }
    });
  },
);

it(
  'the state folder is moved between two turns of a session: the second continues it',
  { ...ALL, timeout: 120_000 },
  async () => {
    await inRunRoom(REVIEW, async (room) => {
      const places = together(room);
      const start = (args: readonly string[], state: string) =>
        room.start(args, { SQUAD_STATE: state }, [], places.checkout);
      const engine = start(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json'], places.state);
      await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'page');
      engine.child.kill('SIGKILL');
      await engine.finished;
      const state = mv(places.state, `${places.state}-moved`);
      expect((await start(['resume', '--json'], state).finished).code).toBe(0);
      const { directory } = findState(state, join(places.main, '.git'));
      const ledger = openLedger(directory, { clock: createSystemClock(), readOnly: true });
      const results = ledger.attempts({ taskId: 'page' }).map(({ id }) => ledger.settlement(id)?.result);
      ledger.close();
      const builders = results.filter((result) => result?.text === 'done' || result?.text === 'mended');
      expect(builders.map((result) => result?.failure)).toEqual([undefined, undefined]);
      expect(new Set(builders.map((result) => result?.session?.id)).size).toBe(1);
      expect(results.map((result) => result?.failure?.kind)).not.toContain('session-not-found');
    });
  },
);
