// @module-tag all
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { hasLedger, ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import { probeLock } from '../../src/substrate/ledger/workspace-lock.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { endOfRun } from '../../src/view/end-row.ts';
import { followSteps } from '../support/damages/follow-steps.ts';
import { endTurns, LONG_FAN_OUT } from '../support/damages/room.ts';
import { elsewhere, prepare, settledIn, stateBelow, timesOf } from '../support/elsewhere.ts';
import { git } from '../support/git.ts';
import { some, SPREAD } from '../support/lane.ts';
import { killAll, livingTurns } from '../support/marked-pids.ts';
import { inRunRoom, type RunRoom } from '../support/run-room.ts';
import { noSsh, startSshServer, type SshServer } from '../support/ssh-server.ts';
import { stateOf } from '../support/state.ts';
import { userInfo } from 'node:os';

const MOST_MS = 120_000;
const missing = noSsh();

/** Where it is killed: the one that a person started, or the one that it started there. */
const KILLS = [
  ...(['pack.copied', 'pack.written', 'move.marked', 'move.packed', 'move.taken', 'move.committed'] as const).map(
    (point) => ['here', point] as const,
  ),
  ...(
    [
      ...['arrive.received', 'unpack.checked', 'unpack.refs', 'arrive.checked', 'arrive.marked'],
      ...['arrive.cleared', 'arrive.taken', 'arrive.released'],
    ] as const
  ).map((point) => ['there', point] as const),
];

interface Two {
  readonly room: RunRoom;
  readonly server: SshServer;
  readonly clone: string;
  readonly home: string;
  readonly url: string;
  move(words: readonly string[], environment?: Record<string, string>): ReturnType<RunRoom['run']>;
}

async function withTwo(work: (two: Two) => Promise<void>): Promise<void> {
  await inRunRoom(LONG_FAN_OUT, async (room) => {
    prepare(room);
    const { clone, home } = elsewhere(room);
    const server = await startSshServer(room.root, home);
    const url = `ssh://${userInfo().username}@127.0.0.1:${server.port}${encodeURI(clone)}`;
    const PATH = `${server.bin}:${process.env['PATH']}`;
    try {
      await work({
        ...{ room, server, clone, home, url },
        move: async (words, environment = {}) =>
          room.run(['move', ...words, '--yes', '--json'], { PATH, ...environment }),
      });
    } finally {
      await server.stop();
      endTurns(room);
      for (const directory of [stateOf(room.repository), ...states(home)]) killAll(livingTurns(directory));
    }
  });
}

function states(home: string): string[] {
  return existsSync(join(home, 'state', 'squad')) ? [stateBelow(home)].filter(hasLedger) : [];
}

/** Waits until the only run there is over and its engine has gone. */
async function ended(directory: string): Promise<void> {
  for (const until = performance.now() + MOST_MS; performance.now() < until; await sleep(200)) {
    if (!hasLedger(directory) || probeLock(directory) !== null) continue;
    const ledger = openLedger(directory, { clock: createSystemClock(), readOnly: true });
    try {
      const [run] = ledger.runs();
      if (run !== undefined && endOfRun(ledger, run) !== undefined) return;
    } finally {
      ledger.close();
    }
  }
  throw new Error(`the run at ${directory} did not end`);
}

function expectWhole(directory: string, repository: string): void {
  expect(git(repository, 'show', 'squad/fan-out:both.txt')).toBe('left\nright');
  const { problems, violations } = checkLedger(ledgerPath(directory));
  expect([...problems, ...violations]).toEqual([]);
}

const markOf = (directory: string): string | undefined =>
  existsSync(join(directory, 'moved.json'))
    ? (JSON.parse(readFileSync(join(directory, 'moved.json'), 'utf8')) as { type: string }).type
    : undefined;

describe.skipIf(missing !== undefined)(`runs that move over ssh${missing === undefined ? '' : `: ${missing}`}`, () => {
  it('go there in mid-turn and come back, and no paid turn is had again', { timeout: 300_000 }, async () => {
    await withTwo(async (two) => {
      const { room, server, home, clone, url } = two;
      const engine = room.begin();
      await engine.line(({ type }) => type === 'run-started');
      await sleep(1500);
      const there = await two.move([url, '--now']);
      expect(there.code, there.stderr).toBe(0);
      await engine.finished;
      const here = stateOf(room.repository);
      const remote = stateBelow(home);
      expect([markOf(here), markOf(remote)]).toEqual(['moved', 'here']);
      const done = new Map(settledIn(here).map((task) => [task, timesOf(room, task)]));
      const refused = await room.run(['resume']);
      expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('squad move --back')]);
      expect((await room.run(['runs'])).stdout).toContain(url);
      const back = await two.move(['--back', '--now']);
      expect(back.code, back.stderr).toBe(0);
      await ended(here);
      expect([markOf(here), markOf(remote)]).toEqual(['here', 'moved']);
      expectWhole(here, room.repository);
      for (const [task, times] of done) expect([task, timesOf(room, task)]).toEqual([task, times]);
      const away = followSteps({ root: room.root, cwd: clone, home }, ['squad resume']);
      expect([away.code, away.said]).toEqual([78, expect.stringContaining('the runs of this repository are at')]);
      // No word of an address or path is in what a shell there reads.
      expect([...new Set(server.asked())]).toEqual(['exec "$SHELL" -l -c "exec squad receive"']);
    });
  });

  it.each(some(KILLS, 0, 3))(
    'with squad killed %s at %s: the same command again finishes, and no two engines can start in between',
    { ...SPREAD, timeout: 300_000 },
    async (where, point) => {
      await withTwo(async (two) => {
        const { room, server, home, clone, url } = two;
        const engine = room.begin();
        await engine.line(({ type }) => type === 'run-started');
        await sleep(1500);
        if (where === 'there') server.arm(`${point}=kill`);
        const failpoints = where === 'here' ? { SQUAD_FAILPOINTS: `${point}=kill` } : {};
        const cut = await two.move([url, '--now'], failpoints);
        expect([cut.signal, cut.code]).toEqual(where === 'here' ? ['SIGKILL', null] : [null, 78]);
        await engine.finished;
        server.arm('');
        const here = stateOf(room.repository);
        const free = [here, ...states(home)].filter((one) => [undefined, 'here'].includes(markOf(one)));
        expect(free.length).toBeLessThan(2);
        const paid = settledIn(here);
        const done = new Map(paid.map((task) => [task, timesOf(room, task)]));
        const again = await two.move([url, '--now']);
        expect(again.code, again.stderr).toBe(0);
        const remote = stateBelow(home);
        await ended(remote);
        expect([markOf(here), markOf(remote)]).toEqual(['moved', 'here']);
        expectWhole(remote, clone);
        expect(paid.filter((task) => timesOf(room, task) !== done.get(task))).toEqual([]);
        expect(readdirSync(here).filter((name) => name.endsWith('.tar'))).toEqual([]);
      });
    },
  );
});
