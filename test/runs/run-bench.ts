import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom, type Engine, type EngineRoom, type Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { runInProcess } from '../support/in-process.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import { objective, type Entry } from './run-script.ts';
import { stateOf } from '../support/state.ts';

export interface RunBench extends EngineRoom {
  /** `squad run objective.md` on the scripted runtime, with `--json`. */
  startRun(more?: readonly string[], environment?: Record<string, string>): Engine;
  runAll(more?: readonly string[], environment?: Record<string, string>): Promise<Finished>;
  /** In place of the script so far, for turns that start from now on. */
  rescript(entries: readonly Entry[]): void;
  /** In place of the objective so far. */
  objective(text: string): void;
  /** In place of the settings so far. */
  settings(more: Readonly<Record<string, unknown>>): void;
  status(): Promise<RunStatus>;
  report(): Promise<string>;
  /** A file as the run branch has it; undefined: it does not. */
  fileOnBranch(path: string, branch?: string): string | undefined;
  /** Live processes of all its turns and checks. */
  alive(): number[];
  /** Removes everything. Fails where something of a turn still lives, or the ledger is not sound. */
  end(): void;
}

/** A repository with an objective, settings and a script, ready for `squad run`. */
export function openRunBench(about: {
  script: readonly Entry[];
  settings?: Readonly<Record<string, unknown>>;
  objective?: string;
  files?: Readonly<Record<string, string>>;
}): RunBench {
  const room = openEngineRoom(about.files);
  const { repository } = room;
  const script = room.script({ turns: about.script });
  const settings: RunBench['settings'] = (more) => {
    const all = { version: 1, runtimes: { scripted: { config: { script } } }, ...more };
    // JSON is YAML too.
    writeFileSync(join(repository, 'squad.yaml'), JSON.stringify(all, null, 2));
  };
  settings(about.settings ?? {});
  writeFileSync(join(repository, 'objective.md'), about.objective ?? objective());
  const engines: Engine[] = [];
  const start: EngineRoom['start'] = (args, environment, flags, cwd) => {
    const engine = room.start(args, environment, flags, cwd);
    engines.push(engine);
    return engine;
  };
  // Only what is to be killed, or has an environment of its own, needs a process.
  const run: EngineRoom['run'] = (args, environment) =>
    environment === undefined ? runInProcess(room, args) : start(args, environment).finished;
  const runArguments = (more: readonly string[]): string[] => [
    ...['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json'],
    ...more,
  ];
  const startRun: RunBench['startRun'] = (more = [], environment = {}) => start(runArguments(more), environment);
  const alive = (): number[] => readdirOf(join(stateOf(repository), 'turns')).flatMap(markedPids);
  return {
    ...room,
    start,
    run,
    startRun,
    rescript: (entries) => writeFileSync(script, JSON.stringify({ turns: entries })),
    objective: (text) => writeFileSync(join(repository, 'objective.md'), text),
    settings,
    runAll: (more = [], environment) => run(runArguments(more), environment),
    status: async () => JSON.parse((await run(['status', '--json'])).stdout) as RunStatus,
    report: async () => (await run(['report'])).stdout,
    fileOnBranch: (path, branch = 'squad/make-things') => {
      const listed = git(repository, 'ls-tree', '--name-only', branch, '--', path);
      return listed === '' ? undefined : git(repository, 'show', `${branch}:${path}`);
    },
    alive,
    end: () => {
      // Of a test that timed out.
      for (const { child } of engines) if (child.exitCode === null) child.kill('SIGKILL');
      const left = alive();
      killAll(left);
      const wrong = left.length === 0 ? unsound(repository) : [];
      room.close();
      expect(left, 'processes left behind').toEqual([]);
      expect(wrong, 'what is wrong with the ledger').toEqual([]);
    },
  };
}

export function statusOf(status: RunStatus, task: string): string | undefined {
  return status.tasks.find(({ id }) => id === task)?.status;
}

/** Settled turns of a task, in the order of their ends. */
export function turnsOf({ lines }: Finished, task: string): Record<string, unknown>[] {
  return lines.filter((line) => line['type'] === 'attempt-ended' && line['kind'] === 'turn' && line['task'] === task);
}

/** Turns that an engine took up, in that order. */
export function startsOf({ lines }: Finished): Record<string, unknown>[] {
  return lines.filter(({ type, kind }) => type === 'attempt-taken' && kind === 'turn');
}

function unsound(repository: string): string[] {
  const directory = stateOf(repository);
  if (!readdirOf(directory).includes('squad.db')) return [];
  const { problems, violations } = checkLedger(ledgerPath(directory));
  return [...problems, ...violations].map((one) => JSON.stringify(one));
}

function readdirOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing ever ran here.
    return [];
  }
}
