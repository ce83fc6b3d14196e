import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { allowedMs } from '../support/busy-machine.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import type { Engine } from '../support/engine.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const COMMITS = commits({ 'a.txt': 'a\n' });
const HANG = [{ run: ['true'] }, { hang: true }];
/** Whoever was cut short is told, in the same session. */
const CUT_SHORT = { when: 'was cut short' };
const HANGS = [plan([piece('a')]), author('a', HANG), { ...CUT_SHORT, steps: HANG }, APPROVE_ALL];
const WORKS = [plan([piece('a')]), author('a', COMMITS), { ...CUT_SHORT, steps: COMMITS }, APPROVE_ALL];
const SLOW = [{ run: ['sleep', '1.5'] }, ...COMMITS];
const SLOW_RUN = [plan([piece('a')]), author('a', SLOW), { ...CUT_SHORT, steps: SLOW }, APPROVE_ALL];

/** What the board says during the task's first turn. */
const AT_WORK = 'a-1 started';
const TERMINAL = join(import.meta.dirname, '../fixtures/terminal/terminal.py');

/** What is missing for trials in a terminal; undefined: nothing. */
export const NO_TERMINAL =
  spawnSync('python3', ['-c', 'import pty, fcntl, termios, os; os.waitstatus_to_exitcode']).status === 0
    ? undefined
    : 'no python3 with pty';

export interface SignalTrial {
  readonly name: string;
  readonly needsTerminal?: true;
  /** Does it to a run of its own, which must end in order, leave nothing alive and be delivered after a resume. */
  perform(): Promise<void>;
}

export const SIGNAL_TRIALS: readonly SignalTrial[] = [
  { name: 'Ctrl-C once', perform: async () => trial(SLOW_RUN, drained) },
  { name: 'Ctrl-C twice', perform: async () => trial(HANGS, async (bench) => pressed(bench, 2, 10_000)) },
  { name: 'Ctrl-C thrice', perform: async () => trial(HANGS, async (bench) => pressed(bench, 3, 1_000)) },
  { name: 'SIGTERM', perform: async () => trial(HANGS, async (bench) => signalled(bench, 'SIGTERM')) },
  { name: 'SIGHUP', perform: async () => trial(HANGS, async (bench) => signalled(bench, 'SIGHUP')) },
  { name: 'a reader that had enough (EPIPE)', perform: async () => trial(WORKS, readerLeaves) },
  { name: 'closed stdin, stdout and stderr', perform: async () => trial(WORKS, closedStreams) },
  { name: '200 resizes, then Ctrl-C', needsTerminal: true, perform: async () => trial(HANGS, resized) },
  { name: 'a terminal that goes away', needsTerminal: true, perform: async () => trial(HANGS, terminalGone) },
];

async function trial(script: typeof HANGS, fault: (bench: RunBench) => Promise<'done' | 'ended early'>): Promise<void> {
  const bench = openRunBench({ script });
  try {
    const end = await fault(bench);
    expect(bench.alive()).toEqual([]);
    const { turns } = await bench.status();
    expect([turns.live, turns.started - turns.settled]).toEqual([0, 0]);
    if (end === 'ended early') {
      bench.rescript(WORKS);
      const resumed = await bench.run(['resume', '--json']);
      expect(resumed.code, resumed.stderr).toBe(0);
    }
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  } finally {
    bench.end();
  }
}

/** In the middle of the task's first turn. */
async function working(bench: RunBench): Promise<Engine> {
  const engine = bench.startRun();
  await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
  return engine;
}

/** The live turn may end, and nothing new starts. */
async function drained(bench: RunBench): Promise<'ended early'> {
  const engine = await working(bench);
  const from = performance.now();
  engine.child.kill('SIGINT');
  const ended = await engine.finished;
  expect(performance.now() - from).toBeLessThan(allowedMs(60_000));
  expect(ended.code, ended.stderr).toBe(130);
  expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'interrupted', exitCode: 130 });
  return 'ended early';
}

async function pressed(bench: RunBench, times: number, withinMs: number): Promise<'ended early'> {
  const engine = await working(bench);
  for (let press = 1; press <= times; press += 1) {
    // Equal signals that wait to be delivered become one.
    if (press > 1) await new Promise((resolve) => setTimeout(resolve, 200));
    engine.child.kill('SIGINT');
  }
  const from = performance.now();
  const ended = await engine.finished;
  // Starting and ending processes is no part of what is promised.
  expect(performance.now() - from).toBeLessThan(allowedMs(withinMs + 1_000));
  // The last press may meet a process on its way out, whose handlers are gone: a shell says 130 of both.
  expect(ended.signal === 'SIGINT' ? 130 : ended.code, ended.stderr).toBe(130);
  return 'ended early';
}

async function signalled(bench: RunBench, signal: 'SIGTERM' | 'SIGHUP'): Promise<'ended early'> {
  const engine = await working(bench);
  const from = performance.now();
  engine.child.kill(signal);
  const ended = await engine.finished;
  expect(performance.now() - from).toBeLessThan(allowedMs(10_000));
  expect(ended.code, ended.stderr).toBe(143);
  expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'interrupted', exitCode: 143 });
  expect(existsSync(String(ended.lines.at(-1)?.['report']))).toBe(true);
  return 'ended early';
}

/** As `squad run --json | head -1` does it: the run is what its user wanted, not its lines. */
async function readerLeaves(bench: RunBench): Promise<'done'> {
  const engine = bench.startRun();
  await engine.line(() => true);
  engine.child.stdout?.destroy();
  const ended = await engine.finished;
  expect(ended.stderr).not.toMatch(/EPIPE|^\s+at /m);
  expect(ended.code, ended.stderr).toBe(0);
  return 'done';
}

async function closedStreams(bench: RunBench): Promise<'done'> {
  const { code } = await inShell(bench, 'exec "$0" "$@" <&- >&- 2>&-');
  expect(code).toBe(0);
  return 'done';
}

async function inShell(bench: RunBench, script: string): Promise<{ code: number | null }> {
  const child = spawn('/bin/sh', ['-c', script, ...commandOf()], { ...placeOf(bench), stdio: 'ignore' });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code };
}

const shownSchema = z.object({ code: z.number(), shown: z.string(), restored: z.boolean() });

/** Whatever the size, every line is whole, and the terminal is left as it was found. */
async function resized(bench: RunBench): Promise<'ended early'> {
  const { code, shown, restored } = await inTerminal(bench, 200, 'press');
  expect(shown).toContain(AT_WORK);
  expect(code, shown).toBe(130);
  expect(restored).toBe(true);
  expect(shown).toContain('INTERRUPTED');
  // The shell has its screen and cursor back, and can write a prompt.
  expect(shown).toMatch(/(?:\n|\r\u001b\[K)$/);
  const last = (sequence: string): number => shown.lastIndexOf(`\u001b[?${sequence}`);
  expect(last('1049h')).toBeGreaterThan(-1);
  expect(last('1049l')).toBeGreaterThan(last('1049h'));
  expect(last('25h')).toBeGreaterThan(last('25l'));
  return 'ended early';
}

async function terminalGone(bench: RunBench): Promise<'ended early'> {
  const { code, shown } = await inTerminal(bench, 0, 'hangup');
  expect(shown).toContain(AT_WORK);
  expect(code, shown).toBe(143);
  return 'ended early';
}

async function inTerminal(bench: RunBench, resizes: number, ending: 'press' | 'hangup') {
  const args = [TERMINAL, AT_WORK, String(resizes), ending, ...commandOf([])];
  const child = spawn('python3', args, { ...placeOf(bench), stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await new Promise((resolve) => void child.once('close', resolve));
  return shownSchema.parse(JSON.parse(text));
}

function commandOf(more: readonly string[] = ['--json']): string[] {
  return [process.execPath, CLI_ENTRY, 'run', 'objective.md', '--runtime', 'scripted', '--yes', ...more];
}

function placeOf({ repository, root }: RunBench) {
  const home = { HOME: root, XDG_STATE_HOME: join(root, 'state'), TERM: 'xterm' };
  return { cwd: repository, env: { PATH: process.env['PATH'], ...home } };
}
