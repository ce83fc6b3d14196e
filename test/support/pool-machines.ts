import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI_ENTRY } from './cli-entry.ts';
import { jsonLines, type Finished } from './engine.ts';
import { killAll } from './marked-pids.ts';

/** A home, a state folder and paths of its own: as much of a machine as a worker sees. */
export interface TestMachine {
  readonly name: string;
  readonly home: string;
  /** A command of squad, to its end. */
  run(args: readonly string[], cwd?: string): Promise<Finished>;
  /** `squad worker` under the machine’s name. */
  worker(args?: readonly string[]): ChildProcess;
  /** What its workers have said. */
  said(): string;
  /** SIGKILL to all that was started here, then everything here is deleted. */
  lose(): void;
  /** Processes of this machine. */
  alive(): number[];
}

export function openMachineAt(root: string, name: string, pool: string): TestMachine {
  const home = join(root, name);
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    USER: name,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    SQUAD_POOL: pool,
  };
  const start = (args: readonly string[], cwd = home): ChildProcess =>
    spawn(process.execPath, [CLI_ENTRY, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const texts: (() => string)[] = [];
  const alive = (): number[] => processesWith(`HOME=${home}`);
  return {
    name,
    home,
    run: async (args, cwd) => {
      const child = start(args, cwd);
      const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
      const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
        child.once('close', (...how) => resolve(how));
      });
      return { code, signal, stdout: stdout(), stderr: stderr(), lines: jsonLines(stdout()) };
    },
    worker: (args = []) => {
      const child = start(['worker', '--name', name, ...args]);
      texts.push(textOf(child.stdout), textOf(child.stderr));
      return child;
    },
    said: () => texts.map((text) => text()).join(''),
    lose: () => {
      // Until nothing is left: one may have started another one meanwhile.
      for (let left = alive(); left.length > 0; left = alive()) killAll(left);
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
    alive,
  };
}

/** A folder for the machines of one test. */
export function machinesRoot(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'squad-pool-')));
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (more: string) => void (text += more));
  return () => text;
}

/** Live processes (no zombies) whose environment began with this variable. */
function processesWith(variable: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return false;
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable);
      } catch {
        return false;
      }
    });
}

/** Until `look` finds something: minutes, on a machine that is busy with other tests. `said`: what to show of one that is never seen. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  said: () => string = () => '',
  mostMs = 240_000,
): Promise<T> {
  const deadline = performance.now() + mostMs;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`never seen: ${what}\n${said()}`);
}
