// A fresh repository, home and PATH for one tool in one situation, with the fake agent as `claude`.
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installChaosAgent, type ChaosAgent } from '../../../test/support/chaos-agent.ts';
import { git } from '../../../test/support/git.ts';
import { holdMerge, installGitWrapper, isHeld } from './git-wrapper.ts';
import { processesOf } from './processes.ts';

export interface Ended {
  /** null: it was still running when the observation ended, or was killed. */
  readonly code: number | null;
  readonly seconds: number;
  readonly output: string;
}

export interface Room {
  readonly root: string;
  readonly repository: string;
  readonly home: string;
  readonly agent: ChaosAgent;
  /** Runs a command of the tool in the repository; after so many seconds it and all it started is killed. */
  run(command: readonly string[], seconds: number): Promise<Ended>;
  /** The same, with a git that halts in the merge of this number; then everything is killed. undefined: it merged nothing. */
  killInMerge(command: readonly string[], merge: number, seconds: number): Promise<Ended | undefined>;
  /** Processes of this room that live. */
  alive(): number[];
  close(): Promise<void>;
}

const POLL_MS = 50;

export function openRoom(files: Readonly<Record<string, string>>): Room {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-peers-')));
  const [repository, home, bin] = ['project', 'home', 'bin'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [repository, home]) mkdirSync(folder);
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Person\n\temail = person@example.invalid\n');
  git(repository, 'init', '-q', '-b', 'main');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(repository, name), text);
  git(repository, 'add', '--all');
  git(repository, 'commit', '-q', '-m', 'base');
  const agent = installChaosAgent(bin, {});
  installGitWrapper(bin);
  const environment = {
    PATH: [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ANTHROPIC_API_KEY: 'none',
  };
  const alive = (): number[] => processesOf(root);
  let count = 0;
  const start = (command: readonly string[]) => {
    const log = join(root, `output-${(count += 1)}`);
    const output = openSync(log, 'w');
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      ...{ cwd: repository, env: environment, detached: true },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const begun = performance.now();
    const end = { code: undefined as number | null | undefined };
    child.once('exit', (code) => (end.code = code));
    child.once('error', () => (end.code = 127));
    const ended = (code: number | null): Ended => ({
      code,
      seconds: Math.round((performance.now() - begun) / 100) / 10,
      output: readFileSync(log, 'utf8'),
    });
    return { end, ended };
  };
  return {
    ...{ root, repository, home, agent, alive },
    run: async (command, seconds) => {
      const { end, ended } = start(command);
      const deadline = performance.now() + seconds * 1000;
      while (end.code === undefined && performance.now() < deadline) await sleep(POLL_MS);
      const done = ended(end.code ?? null);
      if (end.code === undefined) await killAll(alive);
      return done;
    },
    killInMerge: async (command, merge, seconds) => {
      holdMerge(bin, merge);
      const { end, ended } = start(command);
      const deadline = performance.now() + seconds * 1000;
      while (end.code === undefined && !isHeld(bin) && performance.now() < deadline) await sleep(POLL_MS);
      const hit = isHeld(bin);
      const done = ended(end.code ?? null);
      await killAll(alive);
      holdMerge(bin, 0);
      return hit ? done : undefined;
    },
    close: async () => {
      await killAll(alive);
      if (existsSync(root)) rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** In rounds: what was found may be gone, and what forks has others by then. */
async function killAll(alive: () => number[]): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const pids = alive();
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(POLL_MS);
  }
  throw new Error('processes survive SIGKILL');
}
