import { spawn as spawnProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProcessIdentity } from '../../../../src/model/process-identity.ts';
import type { TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { RUN_TYPESCRIPT, clock, createTurnBench, fixture, never, processes, untilFile } from './turn-bench.ts';
import { markedPids } from '../../../support/marked-pids.ts';
import { ALL } from '../../../support/lane.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const ENGINE = fileURLToPath(new URL('./engine.ts', import.meta.url));
const METACHARACTERS = [
  '',
  ' ',
  '-x',
  '--x=y',
  '@f',
  '$(id)',
  '`id`',
  '"',
  "'",
  '\n',
  '\\',
  '*',
  '~',
  ';&|<>!#',
  '\u2028é😀',
];

/** An engine of its own that dies at a failpoint; resolves when it is dead. */
async function engineDyingAt(failpoint: string, spawn: TurnSpawn): Promise<void> {
  const engine = spawnProcess(
    process.execPath,
    [...RUN_TYPESCRIPT, ENGINE, JSON.stringify(spawn), `${failpoint}=kill`],
    {
      stdio: 'ignore',
    },
  );
  const signal = await new Promise((resolve) => engine.once('exit', (_code, name) => resolve(name)));
  expect(signal).toBe('SIGKILL');
}

describe('spawning a turn', () => {
  test('returns while the agent is still held back, and says who the wrapper is', async () => {
    const mark = join(bench.directory(), 'mark');
    const spawn = bench.spawnOf('leaves-a-mark', [mark]);
    const held = await processes.spawnTurn(spawn);
    expect(held.identity.marker).toBe(spawn.marker);
    expect(await processes.isAlive(held.identity)).toBe(true);
    expect(await processes.outputBytes(spawn.directory)).toBe(0);
    await clock.sleep(150);
    expect(existsSync(mark)).toBe(false);
    await held.go();
    const ending = await processes.waitForEnding(held.identity, spawn.directory, never());
    expect(ending).toMatchObject({ type: 'exited', code: 0 });
    expect(existsSync(mark)).toBe(true);
  });

  test('the prompt arrives byte for byte and nobody else may read the files', async () => {
    const stdin = METACHARACTERS.join('|') + 'prömpt \u0001\u2028 $(id) `id` \\ '.repeat(16_000);
    expect(Buffer.byteLength(stdin)).toBeGreaterThan(400_000);
    const spawn = bench.spawnOf('echoes-stdin', [], { stdin });
    const { stdout } = await bench.finish(spawn);
    expect(stdout.equals(Buffer.from(stdin))).toBe(true);
    expect(await processes.outputBytes(spawn.directory)).toBe(stdout.length);
    for (const name of ['prompt', 'stdout', 'stderr']) {
      expect(statSync(join(spawn.directory, name)).mode & 0o077, name).toBe(0);
    }
  });

  test('arguments, environment and folder arrive byte for byte; only the marker is added', async () => {
    const env = { PATH: '/nowhere', EMPTY: '', ODD: METACHARACTERS.join('') };
    const spawn = bench.spawnOf('prints-itself', METACHARACTERS, { env });
    const { stdout } = await bench.finish(spawn);
    const seen = JSON.parse(stdout.toString()) as { args: string[]; env: Record<string, string>; cwd: string };
    expect(seen.args).toEqual(METACHARACTERS);
    expect(seen.cwd).toBe(bench.root);
    // A POSIX shell tells its children where it is.
    const { PWD: _folder, OLDPWD: _before, _: _last, SHLVL: _level, ...rest } = seen.env;
    expect(rest).toEqual({ ...env, SQUAD_TURN_ID: spawn.marker });
  });

  test('abandoned, the agent never runs', async () => {
    const mark = join(bench.directory(), 'mark');
    const spawn = bench.spawnOf('leaves-a-mark', [mark]);
    const held = await processes.spawnTurn(spawn);
    await held.abandon();
    expect(await processes.isAlive(held.identity)).toBe(false);
    expect(await processes.waitForEnding(held.identity, spawn.directory, never())).toEqual({ type: 'never-started' });
    expect(existsSync(mark)).toBe(false);
  });

  const text = join(bench.root, 'text');
  writeFileSync(text, 'just text', { mode: 0o755 });
  test.each<[string, Partial<TurnSpawn>, string]>([
    ['a command that is not there', { command: '/no/such/program' }, 'wrong-environment'],
    ['a command without a path', { command: 'node' }, 'wrong-environment'],
    ['a folder as command', { command: '/usr/bin' }, 'wrong-environment'],
    ['a file that is not executable', { command: '/etc/passwd' }, 'wrong-environment'],
    ['text that a shell would take for its own', { command: text }, 'wrong-environment'],
    ['a working directory that is not there', { cwd: '/no/such/folder' }, 'wrong-environment'],
    ['a turn folder that is not there', { directory: '/no/such/folder' }, 'wrong-environment'],
    ['a NUL in an argument', { args: ['a\0b'] }, 'bad-input'],
    ['a NUL in the environment', { env: { A: '\0' } }, 'bad-input'],
    ["arguments beyond the system's limit", { args: ['x'.repeat(200_000)] }, 'bad-input'],
    ['an empty marker', { marker: '' }, 'bad-input'],
    ['no limit of time', { wallMs: Number.NaN }, 'bad-input'],
    ['no limit on output', { maxOutputBytes: 0 }, 'bad-input'],
  ])('%s is refused, with nothing left running', async (_name, wrong, code) => {
    const spawn = bench.spawnOf('exits-with', ['0'], wrong);
    await expect(processes.spawnTurn(spawn)).rejects.toMatchObject({ name: 'SquadError', code });
    if (spawn.marker !== '') expect(markedPids(spawn.marker)).toEqual([]);
  });

  test('another platform is refused by name', async () => {
    const elsewhere = createSystemProcesses({ clock, platform: 'win32' });
    await expect(elsewhere.spawnTurn(bench.spawnOf('exits-with'))).rejects.toThrow(/win32/);
    await expect(elsewhere.sweep('x')).rejects.toMatchObject({ code: 'wrong-environment' });
  });
});

describe('an engine killed while it starts a turn', () => {
  test.each(['process.spawned', 'process.before-go'])(
    'at %s: the agent never runs, and the folder serves again',
    ALL,
    async (point) => {
      const mark = join(bench.directory(), 'mark');
      const spawn = bench.spawnOf('leaves-a-mark', [mark]);
      await engineDyingAt(point, spawn);
      const exit = await untilFile(join(spawn.directory, 'exit'), (word) => word !== '', 2000);
      expect(exit.trim()).toBe('never-started');
      expect(existsSync(mark)).toBe(false);

      const again = await bench.start(spawn);
      const ending = await processes.waitForEnding(again.identity, spawn.directory, never());
      expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
      expect(existsSync(mark)).toBe(true);
    },
  );

  test('after go: the agent runs to its end, is adopted by its identity, and is never run twice', async () => {
    const spawn = bench.spawnOf('writes-slowly');
    const engine = spawnProcess(process.execPath, [...RUN_TYPESCRIPT, ENGINE, JSON.stringify(spawn)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    engine.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await untilFile(join(spawn.directory, 'stdout'), (out) => out.startsWith('z'));
    engine.kill('SIGKILL');
    const identity = JSON.parse(said.split('\n')[0] ?? '') as ProcessIdentity;
    expect(await processes.isAlive(identity)).toBe(true);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
    expect(readFileSync(join(spawn.directory, 'stdout'), 'utf8')).toBe('zwölf\nBoxkämpfer\n');
    await expect(processes.spawnTurn(spawn)).rejects.toThrow(/already run/);
  });

  test('a script that names its interpreter runs like any program', async () => {
    const script = join(bench.root, 'agent');
    writeFileSync(script, `#!${process.execPath}\nprocess.stdout.write(process.argv[2]);\n`, { mode: 0o755 });
    const { stdout } = await bench.finish(bench.spawnOf('', [], { command: script, args: ['-e'] }));
    expect(stdout.toString()).toBe('-e');
    expect(fixture('x')).toContain('agents');
  });
});
