import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { pidsOf, type InsidePid } from '../../../support/inside-pids.ts';
import { ALL, some, SPREAD } from '../../../support/lane.ts';
import { markedPids } from '../../../support/marked-pids.ts';
import { createTurnBench, fixture, isRunning, readQuietly, until, untilFile } from './turn-bench.ts';

const WRAPPER = fileURLToPath(new URL('../../../../src/substrate/system/process/turn-wrapper.sh', import.meta.url));
/** Every POSIX shell that this machine has; those that are the same file under two names count once. */
const SHELLS = [['sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh'], ['mksh']].filter(([name], index, all) => {
  const path = findOnPath(name as string);
  return path !== undefined && all.findIndex(([other]) => findOnPath(other as string) === path) === index;
});

function findOnPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return found === undefined ? undefined : realpathSync(found);
}

const bench = createTurnBench();
afterAll(() => bench.close());

describe.each(some(SHELLS, 1).map((shell) => ({ name: shell.join(' '), shell })))(
  'turn wrapper under $name',
  { ...SPREAD, concurrent: true },
  ({ shell }) => {
    interface Started {
      readonly child: ChildProcess;
      readonly goPipe: Socket;
      readonly directory: string;
      readonly marker: string;
      readonly gone: Promise<unknown>;
    }

    function start(
      agent: readonly string[],
      options: {
        seconds?: number;
        cap?: number;
        directory?: string;
        stdin?: string;
        env?: Record<string, string>;
      } = {},
    ): Started {
      const { seconds = 60, cap = 1e9, directory = bench.directory(), env = {} } = options;
      writeFileSync(join(directory, 'prompt'), options.stdin ?? '');
      const marker = bench.marker();
      const [program, ...shellArgs] = shell as [string, ...string[]];
      const args = [...shellArgs, WRAPPER, directory, String(seconds), String(cap), '--', ...agent];
      const child = spawn(findOnPath(program) as string, args, {
        env: { PATH: process.env.PATH ?? '', ...env, SQUAD_TURN_ID: marker },
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      });
      const gone = new Promise((resolve) => child.once('exit', resolve));
      return { child, goPipe: child.stdio[3] as Socket, directory, marker, gone };
    }

    const run = (...args: Parameters<typeof start>): Started => {
      const started = start(...args);
      started.goPipe.end('go\n');
      return started;
    };
    const exitOf = (turn: Started) => untilFile(join(turn.directory, 'exit'), () => true).then((text) => text.trim());
    const node = (agent: string, ...args: string[]): string[] => [process.execPath, fixture(agent), ...args];

    test('holds the agent until it is let go, then records its status and leaves nothing running', async () => {
      const mark = join(bench.directory(), 'mark');
      const turn = start(node('leaves-a-mark', mark));
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(existsSync(mark)).toBe(false);
      turn.goPipe.end('go\n');
      expect(await exitOf(turn)).toBe('0');
      expect(existsSync(mark)).toBe(true);
      await turn.gone;
      await until(() => (markedPids(turn.marker).length === 0 ? true : undefined), 1500);
      expect(readdirSync(turn.directory).toSorted()).toEqual(['exit', 'prompt', 'stderr', 'stdout']);
    });

    test.each(['', 'g', 'go', 'stop\n'])('never starts the agent when it hears %j and then nothing', async (words) => {
      const mark = join(bench.directory(), 'mark');
      const turn = start(node('leaves-a-mark', mark));
      turn.goPipe.end(words);
      expect(await exitOf(turn)).toBe('never-started');
      await turn.gone;
      expect(existsSync(mark)).toBe(false);
    });

    test.each([
      ['exits-with', '0', '0'],
      ['exits-with', '7', '7'],
      ['dies-by-signal', 'SIGKILL', '137'],
      ['dies-by-signal', 'SIGTERM', '143'],
      ['dies-by-signal', 'SIGINT', '130'],
    ])('%s %s is recorded as %s', async (agent, argument, status) => {
      const turn = run(node(agent, argument));
      expect(await exitOf(turn)).toBe(status);
      await turn.gone;
    });

    test('a folder named with blanks, quotes, newlines and substitutions is only a name', async () => {
      const directory = join(bench.directory(), '-n "a\' $(touch pwned) `id`\n*;');
      mkdirSync(directory);
      const turn = run(node('echoes-stdin'), { directory, stdin: 'in' });
      expect(await exitOf(turn)).toBe('0');
      await turn.gone;
      expect(readFileSync(join(directory, 'stdout'), 'utf8')).toBe('in');
    });

    test('arguments and environment arrive byte for byte', async () => {
      const args = [
        '',
        '-n',
        '--',
        '$(id)',
        '`id`',
        "a'b",
        'a"b',
        'a\nb',
        '\\',
        '*',
        '~',
        'é\u2028',
        '-e',
        '%s',
        ';&|<>',
      ];
      const env = { IFS: 'x', A: '$(id)\n`id`', PATH: bench.root, LC_ALL: 'C' };
      const turn = run(node('prints-itself', ...args), { env });
      expect(await exitOf(turn)).toBe('0');
      await turn.gone;
      const seen = JSON.parse(readFileSync(join(turn.directory, 'stdout'), 'utf8')) as { args: string[]; env: object };
      expect(seen.args).toEqual(args);
      expect(seen.env).toMatchObject({ A: env.A, PATH: env.PATH, LC_ALL: 'C', SQUAD_TURN_ID: turn.marker });
    });

    test('outlives INT, TERM and HUP to its group, which the agent takes in its own way', async () => {
      const deaf = run(node('ignores-sigterm'));
      const stdout = join(deaf.directory, 'stdout');
      await untilFile(stdout, (text) => text.includes('ready'));
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.kill(-(deaf.child.pid as number), name);
        await untilFile(stdout, (text) => text.includes(name));
      }
      expect(isRunning(deaf.child.pid as number)).toBe(true);
      process.kill(-(deaf.child.pid as number), 'SIGKILL');
      await deaf.gone;

      const polite = run(node('ends-on-sigint'));
      await untilFile(join(polite.directory, 'stdout'), (text) => text.includes('ready'));
      process.kill(-(polite.child.pid as number), 'SIGINT');
      expect(await exitOf(polite)).toBe('0');
      await polite.gone;
    });

    test('what the agent leaves in the group or in a session of its own is ended with it', ALL, async () => {
      const turn = run(node('forks-and-setsids', 'exit', '2'));
      const said = await untilFile(join(turn.directory, 'stdout'), (text) => text.includes(']'));
      const pids = pidsOf(JSON.parse(said) as InsidePid[]);
      expect(await exitOf(turn)).toBe('0');
      expect(pids).toHaveLength(2);
      await turn.gone;
      await until(() => (pids.some(isRunning) ? undefined : true), 2000);
    });

    test('the wall limit ends a turn that ignores SIGTERM', ALL, async () => {
      // A shell ignores the signal sooner than a program that has to load, so that the limit cannot come before.
      const deaf = ['/bin/sh', '-c', "trap '' TERM; while :; do sleep 1; done"];
      const turn = run(deaf, { seconds: 3 });
      expect(await exitOf(turn)).toBe('137');
      expect(readFileSync(join(turn.directory, 'ended-by'), 'utf8').trim()).toBe('wall');
      await turn.gone;
    });

    test.each(['stdout', 'stderr'])('the flood limit ends a turn that floods %s', async (stream) => {
      const turn = run(node('floods', '8000000', stream), { cap: 1_000_000 });
      await exitOf(turn);
      const endless = run(
        ['/bin/sh', '-c', 'while :; do printf %01000d 7; sleep 0.001; done >&"$0"', stream === 'stdout' ? '1' : '2'],
        {
          cap: 50_000,
        },
      );
      expect(await exitOf(endless)).toBe('143');
      expect(readFileSync(join(endless.directory, 'ended-by'), 'utf8').trim()).toBe('flood');
      expect(statSync(join(endless.directory, stream)).size).toBeLessThan(20_000_000);
      await Promise.all([turn.gone, endless.gone]);
    });

    test.each(['stdout', 'stderr'])(
      'the flood limit ends a turn that is quiet before and after one large %s',
      async (stream) => {
        const script = 'sleep 3; printf %05000d 7 >&"$0"; exec sleep 60';
        const turn = run(['/bin/sh', '-c', script, stream === 'stdout' ? '1' : '2'], { cap: 4000 });
        expect(await exitOf(turn)).toBe('143');
        expect(readFileSync(join(turn.directory, 'ended-by'), 'utf8').trim()).toBe('flood');
        await turn.gone;
      },
    );

    test('a turn that outlasts a look at its output leaves nothing of these looks', async () => {
      const turn = run(['/bin/sh', '-c', 'echo one; sleep 3; echo two']);
      await untilFile(join(turn.directory, 'checked'), () => true);
      expect(await exitOf(turn)).toBe('0');
      await turn.gone;
      expect(readdirSync(turn.directory).toSorted()).toEqual(['exit', 'prompt', 'stderr', 'stdout']);
    });

    test("look-alikes of the standard tools on the agent's PATH are not used", async () => {
      const folder = bench.directory();
      for (const tool of ['mv', 'date', 'find', 'sleep', 'grep', 'tr', 'rm']) {
        writeFileSync(join(folder, tool), `#!/bin/sh\n: >"${folder}/used"\n`, { mode: 0o755 });
      }
      const turn = run(node('exits-with', '0', '300'), { env: { PATH: folder } });
      expect(await exitOf(turn)).toBe('0');
      await turn.gone;
      expect(readQuietly(join(folder, 'used'))).toBeUndefined();
    });

    test('a process whose marker only begins with ours is a bystander', async () => {
      const turn = start(node('exits-with', '0'));
      const bystander = spawn('/bin/sleep', ['60'], { env: { SQUAD_TURN_ID: `${turn.marker}0` }, stdio: 'ignore' });
      turn.goPipe.end('go\n');
      await exitOf(turn);
      await turn.gone;
      expect(isRunning(bystander.pid as number)).toBe(true);
      bystander.kill('SIGKILL');
    });
  },
);
