import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { runInProcess } from '../support/in-process.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import { stateOf } from '../support/state.ts';

/** As `roomForTest`; its commands run in the process of the test where they get no environment of their own. */
export function commandRoom(): EngineRoom {
  const room = roomForTest();
  return {
    ...room,
    run: (args, environment) => (environment === undefined ? runInProcess(room, args) : room.run(args, environment)),
  };
}

/** A room that goes with the test, which fails if anything of a turn is still alive then. */
export function roomForTest(): EngineRoom {
  const room = openEngineRoom();
  onTestFinished(() => {
    const left = aliveIn(room);
    killAll(left);
    room.close();
    expect(left, 'processes left behind').toEqual([]);
  });
  return room;
}

/** Live processes of all turns of this room. */
export function aliveIn(room: EngineRoom): number[] {
  const turns = join(stateOf(room.repository), 'turns');
  try {
    return readdirSync(turns).flatMap(markedPids);
  } catch {
    // No turn was ever started here.
    return [];
  }
}

/** The arguments of a run of one turn that plays these steps. */
export function scriptedTurn(room: EngineRoom, steps: readonly object[], ...more: string[]): string[] {
  return turnWith(room, steps, {}, ...more);
}

/** The same with more settings of the person. `command`: the program of the runtime. */
export function turnWith(
  { root, script }: EngineRoom,
  steps: readonly object[],
  { command, ...settings }: { readonly command?: string; readonly limits?: object },
  ...more: string[]
): string[] {
  const folder = join(root, '.config', 'squad');
  const config = { script: script({ turns: [{ steps, structured: { done: true } }] }) };
  const done = { type: 'object', properties: { done: { type: 'boolean' } } };
  const answer = { ...done, required: ['done'], additionalProperties: false };
  const all = {
    runtimes: { scripted: { config, ...(command === undefined ? {} : { command }) } },
    agents: [{ name: 'builder', role: 'builder', runtime: 'scripted' }],
    playbook: { stages: [{ id: 'TURN', by: ['builder'], brief: 'go', makes: { answer } }] },
    ...settings,
  };
  mkdirSync(folder, { recursive: true });
  // JSON is YAML too.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(all));
  return ['run', 'go', ...more];
}

/** A shell line in which `squad` is the command line. */
export async function shell(room: EngineRoom, line: string, cwd = room.repository): Promise<Omit<Finished, 'lines'>> {
  const child = spawn('/bin/sh', ['-c', `squad() { "$NODE" "$MAIN" "$@"; }; ${line}`], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: room.root,
      XDG_STATE_HOME: join(room.root, 'state'),
      NODE: process.execPath,
      MAIN: CLI_ENTRY,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = ['', ''].map((text) => ({ text }));
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout!.text += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr!.text += text));
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout!.text, stderr: stderr!.text }));
  });
}

/** A stand-in for Node that plays the script and then hears no polite signal: only SIGKILL ends it. */
export function deafNode(room: EngineRoom): string {
  const path = join(room.root, 'deaf-node');
  writeFileSync(path, `#!/bin/sh\ntrap '' INT TERM HUP\n"${process.execPath}" "$@"\nwhile :; do sleep 1; done\n`);
  chmodSync(path, 0o755);
  return path;
}

export function expectSound(room: EngineRoom): void {
  const check = checkLedger(ledgerPath(stateOf(room.repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
}
