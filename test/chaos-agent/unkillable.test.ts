// @module-tag all
import { spawn } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { markedPids } from '../support/marked-pids.ts';
import { processes, until } from '../substrate/system/process/turn-bench.ts';
import { allowedMs } from '../support/busy-machine.ts';
import { CLIS, isRunning, laneOf, openChaosBench, printed } from './chaos-bench.ts';
import { some, SPREAD } from '../support/lane.ts';

/** Longest time from the wish to stop until nothing of a turn lives (bar T12). */
const STOPPED_MS = 10_000;
/** What turns leave behind looks like this. */
const DEAF = "trap '' INT TERM HUP; while :; do sleep 1; done";
/** Without a PID namespace a process that sheds its name, its session and its parent at once is out of reach. */
const isolated = (await processes.isolation()).type !== 'none';
const bystanders: number[] = [];
afterAll(() => {
  for (const pid of bystanders) process.kill(-pid, 'SIGKILL');
});

/** A stranger that a careless sweep would take for a child of this turn. */
function plantBystander(marker: string | undefined): number {
  const env = { PATH: process.env['PATH'], ...(marker === undefined ? {} : { SQUAD_TURN_ID: marker }) };
  const child = spawn('/bin/sh', ['-c', DEAF], { detached: true, stdio: 'ignore', env });
  child.unref();
  bystanders.push(child.pid!);
  return child.pid!;
}

describe.concurrent.each(CLIS)('T12 an unkillable %s', { timeout: 300_000 }, (cli) => {
  const lane = laneOf(cli);
  it.for(
    some<[string, number]>(
      [
        ['ignores-signals', 0],
        ['forks', 3],
        ['daemonises', 3],
        ['sheds-its-name', 3],
        ['hundred-children', 100],
        ['breeds', 1],
        ...(isolated ? [['estranged', 1] as [string, number]] : []),
      ],
      1,
    ),
  )(
    '%s: nothing of it survives a stop, and no stranger is touched',
    laneOf(cli, SPREAD),
    async ([mode, count], test) => {
      const bench = openChaosBench(test, { mode });
      const turn = bench.start(cli);
      const strangers = [
        plantBystander(undefined),
        plantBystander(`${turn.id}0`),
        plantBystander(turn.id.slice(0, -1)),
      ];
      await until(
        () => (bench.agent.children().length >= count && printed(turn).includes('sleep 3600')) || undefined,
        60_000,
      );
      expect(bench.agent.children().filter(isRunning)).toHaveLength(count);
      const from = performance.now();
      const result = await turn.cancel('stop');
      const alive = [...markedPids(turn.id), ...bench.agent.children().filter(isRunning)];
      expect(alive).toEqual([]);
      expect(performance.now() - from).toBeLessThan(allowedMs(STOPPED_MS));
      expect(result).toMatchObject({ outcome: 'cancelled', failure: { kind: 'cancelled', message: 'stop' } });
      expect(strangers.filter(isRunning)).toEqual(strangers);
    },
  );

  it('holds-stdout: its exit ends the turn, whoever still holds the pipe', lane, async (test) => {
    const bench = openChaosBench(test, { mode: 'holds-stdout', text: 'It is done.' });
    const result = await bench.run(cli);
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', exit: { code: 0 } });
    expect(result.durationMs).toBeLessThan(allowedMs(STOPPED_MS));
    expect(bench.agent.children()).toHaveLength(2);
    expect(bench.agent.children().filter(isRunning)).toEqual([]);
  });

  it.skipIf(!isolated)('leaves-a-stranger: it ends with its turn (needs a PID namespace)', lane, async (test) => {
    const bench = openChaosBench(test, { mode: 'leaves-a-stranger', text: 'It is done.' });
    const result = await bench.run(cli);
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', exit: { code: 0 } });
    // Those that are gone have the pid 0.
    expect(bench.agent.children()).toEqual([0]);
  });

  it('never-exits-deaf: its result is kept when it has to be killed', lane, async (test) => {
    const bench = openChaosBench(test, { mode: 'never-exits-deaf', text: 'It is done.' });
    const turn = bench.start(cli);
    await until(() => printed(turn).includes('It is done.') || undefined, 60_000);
    const from = performance.now();
    const result = await turn.cancel('stop');
    expect(performance.now() - from).toBeLessThan(allowedMs(STOPPED_MS));
    // The host of an agent that holds a conversation ends by itself, once it has ended the agent.
    const exit = cli === 'acp' ? { code: 0 } : { signal: 'SIGKILL' };
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', exit });
  });
});
