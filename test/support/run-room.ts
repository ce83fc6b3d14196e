import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { isOver, readHistory, type RunHistory } from '../../src/view/read-run.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import type { Limits } from '../../src/model/limits.ts';
import { isHalfMade, openEngineRoom, type Engine, type EngineRoom, type Finished } from './engine.ts';
import { git } from './git.ts';
import { mailOf } from './mail-of.ts';
import { helperHostsIn, killAll, livingTurns } from './marked-pids.ts';
import type { Scenario } from './scenario-parts.ts';
import { writeSession } from './session-folder.ts';
import { stateOf } from './state.ts';

/** Beyond those that are killed; more would be a run that never ends. */
const MOST_ENGINES = 12;
/** A run takes seconds; an engine that takes this long will never end. */
const STUCK_MS = 240_000;

/** A room with everything that a run of one scenario needs. */
export interface RunRoom extends EngineRoom {
  readonly scenario: Scenario;
  readonly effects: string;
  /** The user's checkout as it was before squad came. */
  readonly checkout: string;
  begin(environment?: Record<string, string>): Engine;
  resume(environment?: Record<string, string>, more?: readonly string[]): Engine;
  /** As the ledger has it; undefined: no run was ever made. */
  reading(): RunHistory | undefined;
}

/** What has to be the same however often the engine was killed. */
export interface EndState {
  readonly tree: string;
  readonly outcome: string | undefined;
  readonly kept: readonly string[];
  readonly tasks: readonly string[];
  /** Settled turns of each task, and the sessions they were had in. */
  readonly turns: readonly string[];
  /** What was really done, each with how often. */
  readonly effects: readonly string[];
  /** What each sender said, in its order; and how many messages were not read. */
  readonly mail: readonly string[];
  /** What counts towards a cap: turns, rounds of review; and the caps themselves. */
  readonly counted: { readonly turns: number; readonly rounds: number; readonly limits: Limits };
}

export function openRunRoom(scenario: Scenario): RunRoom {
  const { objective, session } = scenario;
  const room = openEngineRoom(objective === undefined ? {} : { 'objective.md': objective });
  const { root, repository } = room;
  if (session !== undefined) writeSession(join(repository, session.folder), session.about);
  const input = session === undefined ? 'objective.md' : `--session=${session.folder}`;
  const effects = join(root, 'effects');
  writeFileSync(effects, '');
  // Uncommitted on purpose: it names this room.
  writeFileSync(join(repository, 'squad.yaml'), scenario.settings(room.script(scenario.script(effects)), effects));
  return {
    ...room,
    scenario,
    effects,
    checkout: checkoutOf(repository),
    begin: (environment) => {
      const runtime = scenario.ownRuntimes === true ? [] : ['--runtime', 'scripted'];
      return room.start(['run', input, ...runtime, '--yes', '--json'], environment);
    },
    resume: (environment, more = []) => room.start(['resume', '--json', ...more], environment),
    reading: () => readingOf(room),
  };
}

/** A room for as long as `work` takes. One that goes wrong is kept with SQUAD_KEEP_ROOMS=1; its processes never are. */
export async function inRunRoom<T>(scenario: Scenario, work: (room: RunRoom) => Promise<T>): Promise<T> {
  const room = openRunRoom(scenario);
  const isKept = process.env['SQUAD_KEEP_ROOMS'] === '1';
  try {
    const result = await work(room);
    room.close();
    return result;
  } catch (error) {
    if (room.reading() !== undefined) killAll(livingTurns(stateOf(room.repository)));
    if (isKept) throw new Error(`${String(error)} (see ${room.root})`, { cause: error });
    room.close();
    throw error;
  }
}

/** How the next engine that is to be killed dies; undefined: nothing is done to it. */
export type Death = ((engine: Engine, room: RunRoom) => void) | undefined;

/**
 * Engine after engine until one ends by itself, and no person has anything to do. `environments`: of the ones that are
 * killed, in turn; whoever comes later has none. `deaths`: what is done to them.
 */
export async function driveToEnd(
  room: RunRoom,
  environments: readonly Record<string, string>[] = [],
  deaths: readonly Death[] = [],
): Promise<{ last: Finished; killed: number }> {
  const { operator = {} } = room.scenario;
  const most = MOST_ENGINES + Math.max(environments.length, deaths.length);
  let killed = 0;
  let more: readonly string[] = [];
  for (let engines = 0; engines < most; engines += 1) {
    const environment = environments[killed] ?? {};
    const engine = room.reading() === undefined ? room.begin(environment) : room.resume(environment, more);
    deaths[killed]?.(engine, room);
    const last = await endOf(engine);
    const intervention = operator[last.code ?? -1];
    if (last.signal === null && intervention === undefined) return { last, killed };
    if (last.signal !== null) {
      // Killed when all was done, on its way out: there is nothing to go on with.
      const after = room.reading();
      if (after !== undefined && isOver(after)) return { last, killed };
      killed += 1;
    }
    for (const command of intervention?.commands ?? []) await obey(room, command);
    more = intervention?.resume ?? [];
  }
  throw new Error(`the run did not end with ${most} engines`);
}

async function endOf({ child, finished }: Engine): Promise<Finished> {
  let isStuck = false;
  const timer = setTimeout(() => {
    isStuck = true;
    child.kill('SIGKILL');
  }, STUCK_MS);
  const last = await finished;
  clearTimeout(timer);
  if (isStuck) throw new Error(`stuck: ${last.stdout.slice(-2_000)}${last.stderr}`);
  return last;
}

async function obey(room: RunRoom, command: readonly string[]): Promise<void> {
  const { code, stderr } = await room.run(command);
  if (code !== 0) throw new Error(`squad ${command.join(' ')} ended with ${code}: ${stderr}`);
}

/** SIGKILL after so many milliseconds, if it still lives then. */
export function killAfter(ms: number): Death {
  return ({ child, finished }) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    void finished.then(() => clearTimeout(timer));
  };
}

export function endStateOf(room: RunRoom): EndState {
  const reading = room.reading();
  if (reading === undefined) throw new Error('there is no run');
  const { name } = reading.definition;
  const turns = reading.attempts.filter(({ attempt }) => attempt.kind === 'turn');
  const tasks = [...reading.board.tasks.values()];
  return {
    tree: git(room.repository, 'rev-parse', `squad/${name}^{tree}`),
    outcome: reading.board.finished?.outcome,
    kept: reading.published?.kept.map(({ path }) => path) ?? ['not published'],
    tasks: tasks.map(
      ({ task, work }) =>
        `${task.id}: ${work.phase.at === 'ended' ? work.phase.as : work.phase.at}, round ${work.round}`,
    ),
    turns: tasks.map(({ task }) => {
      const own = turns.filter(({ attempt }) => attempt.taskId === task.id);
      // An agent that waited for its engine's word when that died was never asked: it says so, and the next one is.
      const asked = own.filter(({ settlement }) => settlement?.result.failure?.kind !== 'never-started');
      const sessions = new Set(asked.map(({ settlement }) => settlement?.result.session?.id));
      const completed = asked.filter(({ settlement }) => settlement?.result.outcome === 'completed');
      const problems = asked.flatMap(({ settlement }) => settlement?.result.failure?.message ?? []);
      return [`${task.id}: ${completed.length} of ${asked.length} turns, sessions: ${sessions.size}`, ...problems].join(
        '; ',
      );
    }),
    // After a kill a folder for checks may be made again, with its setup.
    effects: effectsOf(room)
      .map((line) => line.split(' ')[0] ?? '')
      .filter((name, index, all) => name !== 'setup' || all.indexOf(name) === index)
      .toSorted(),
    mail: mailIn(room, reading.row.id),
    counted: {
      turns: reading.totals.turnsClaimed,
      rounds: tasks.reduce((sum, { work }) => sum + work.rounds.length, 0),
      limits: reading.limits,
    },
  };
}

function mailIn(room: RunRoom, runId: string): string[] {
  const { messages, unread } = mailOf(room, runId);
  if (messages.length === 0) return [];
  const said = new Map<string, string[]>();
  for (const message of messages) {
    const [from = '', to = '', kind = ''] = message.split(/ → |: /);
    said.set(from, [...(said.get(from) ?? []), `${kind} → ${to}`]);
  }
  return [...[...said].map(([from, all]) => `${from}: ${all.join(', ')}`).toSorted(), `${unread.length} unread`];
}

/** Throws with all that is wrong at the end of a run, crashed or not. */
export function expectUnharmed(room: RunRoom): void {
  const harm = harmTo(room);
  if (harm.length > 0) throw new Error(harm.join('\n'));
}

/** What must not be at the end of any run: a side effect twice, a history that breaks a rule, a process or folder left. */
export function harmTo(room: RunRoom): string[] {
  const { repository, root } = room;
  const directory = stateOf(repository);
  const lines = effectsOf(room);
  const check = checkLedger(ledgerPath(directory));
  const worktrees = git(repository, 'worktree', 'list', '--porcelain').match(/^worktree /gm)?.length ?? 0;
  return [
    ...lines.filter((line, index) => lines.indexOf(line) !== index).map((line) => `done twice: ${line}`),
    ...check.problems.map((problem) => `the ledger: ${problem}`),
    ...check.violations.map(({ rule, message }) => `the ledger: ${rule}: ${message}`),
    ...livingTurns(directory).map((pid) => `a process is left: ${pid}`),
    ...lastingHosts(root).map((pid) => `a host of helpers is left: ${pid}`),
    ...(checkoutOf(repository) === room.checkout ? [] : ['the checkout is not as it was']),
    ...(worktrees === 1 ? [] : [`worktrees: ${worktrees}`]),
    ...foldersOfRuns(room).map((path) => `a folder’s folder is left: ${path}`),
  ];
}

/** A host ends by itself as soon as it sees that its engine has. */
function lastingHosts(root: string): readonly number[] {
  const deadline = performance.now() + 2000;
  while (helperHostsIn(root).length > 0 && performance.now() < deadline) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  return helperHostsIn(root);
}

export function effectsOf({ effects }: RunRoom): string[] {
  return readFileSync(effects, 'utf8').split('\n').slice(0, -1);
}

/** HEAD, index, configuration, refs of the user and what git says of the tree, each byte. */
function checkoutOf(repository: string): string {
  const bytes = ['HEAD', 'index', 'config'].map((name) =>
    createHash('sha256')
      .update(readFileSync(join(repository, '.git', name)))
      .digest('hex'),
  );
  const status = git(repository, '--no-optional-locks', 'status', '--porcelain=v2', '--branch');
  const heads = git(repository, 'for-each-ref', 'refs/heads/main', 'refs/tags', 'refs/stash');
  return [...bytes, status, heads].join('\n');
}

/** Folders of tasks that are still there; squad's own notes begin with a dot. */
function foldersOfRuns({ root }: RunRoom): string[] {
  const state = join(root, 'state', 'squad');
  if (!existsSync(state)) return [];
  return readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((path) => /(?:^|\/)\.git$/.test(path));
}

function readingOf({ ledger, repository }: EngineRoom): RunHistory | undefined {
  if (!existsSync(ledgerPath(stateOf(repository)))) return undefined;
  try {
    const open = ledger();
    try {
      return readHistory(open, undefined, null);
    } finally {
      open.close();
    }
  } catch (error) {
    if (isHalfMade(error)) return undefined;
    throw error;
  }
}
