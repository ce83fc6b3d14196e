import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLedger } from '../../../src/cli/check-ledger.ts';
import { isOver } from '../../../src/view/read-run.ts';
import { ledgerPath } from '../../../src/substrate/ledger/index.ts';
import { git } from '../git.ts';
import { endStateOf, type EndState, type RunRoom } from '../run-room.ts';
import { stateOf } from '../state.ts';

/** How a recording ended that no cut disturbed. */
export interface End {
  readonly state: EndState;
  /** Of the branch of the person, once the work is merged. */
  readonly merged: string;
}

/** What had ended before the cut. */
export interface Before {
  readonly ran: boolean;
  readonly merged: boolean;
  readonly dropped: boolean;
}

/** What a person has stashed before the run, and what its message is. */
const MINE = { path: 'mine.txt', text: 'precious\n', message: 'mine' };
const STASH = ['stash', 'push', '--quiet', '--include-untracked'];

/** Cuts and squad leave it as it is. */
export function stashOwn({ repository }: RunRoom): void {
  writeFileSync(join(repository, MINE.path), MINE.text);
  git(repository, ...STASH, '--message', MINE.message, '--', MINE.path);
}

const MOST_ENGINES = 4;
const MOST_SHOWN = 1_500;

/** What is wrong after a cut, and after what a person then does: resume, merge, drop. */
export async function judge(room: RunRoom, before: Before, end: End): Promise<readonly string[]> {
  try {
    const problems = [...damage(room, 'after the cut'), ...stashProblems(room, 'after the cut')];
    startAgain(room);
    const unsettled = turnsAtWork(room);
    if (before.ran && room.reading() === undefined) problems.push('the run is gone');
    if (before.merged && mergedTree(room) !== end.merged) problems.push('the merged work is gone');
    if (before.dropped) return problems;
    const name = room.reading()?.definition.name;
    const isMerged = mergedTree(room) === end.merged;
    const hasBranch = name !== undefined && branchTree(room, name) !== undefined;
    if (before.ran && !hasBranch && !isMerged) problems.push('the run branch is gone');
    if (!isMerged || hasBranch) {
      const unfinished = await finish(room);
      // A run that cannot be finished has no end to compare, and why it cannot is what counts.
      if (unfinished.length > 0) return [...problems, ...unfinished];
      problems.push(...compare(room, end.state, unsettled));
      for (const command of [['merge'], ['drop', '--yes']]) problems.push(...(await run(room, command)));
    }
    if (mergedTree(room) !== end.merged) problems.push('the work was not merged');
    return [...problems, ...damage(room, 'at the end'), ...stashProblems(room, 'at the end')];
  } catch (error) {
    return [String(error)];
  }
}

/** The machine has another boot id after a cut. */
function startAgain(room: RunRoom): void {
  const state = stateOf(room.repository);
  if (!existsSync(join(state, 'work'))) return;
  for (const run of readdirSync(join(state, 'work'))) {
    const note = join(state, 'work', run, '.squad', 'engine');
    if (existsSync(note)) writeFileSync(note, readFileSync(note, 'utf8').replace(/\n[^\n]+\n$/, '\nthe-boot-before\n'));
  }
}

/** What may have to be done again: turns at work, and work that squad had not looked at. undefined: no run is on record. */
function turnsAtWork(room: RunRoom): number | undefined {
  const reading = room.reading();
  if (reading === undefined) return undefined;
  const isAtWork = (task: string) => /^(?:working|gathering)$/.test(reading.board.tasks.get(task)?.work.phase.at ?? '');
  const tasks = [...reading.board.tasks.keys()].filter(isAtWork);
  const others = reading.attempts.filter(
    ({ attempt }) => attempt.kind === 'turn' && attempt.status === 'spawned' && !isAtWork(attempt.taskId),
  );
  return tasks.length + others.length;
}

async function finish(room: RunRoom): Promise<string[]> {
  for (let engines = 0; engines < MOST_ENGINES; engines += 1) {
    const reading = room.reading();
    if (reading !== undefined && isOver(reading)) return [];
    const engine = reading === undefined ? room.begin() : room.resume();
    const { code, stdout, stderr } = await engine.finished;
    if (code !== 0) return [`squad ended with ${code}: ${stdout.slice(-MOST_SHOWN)}${stderr}`];
  }
  return ['the run does not end'];
}

const LOCK =
  /^Next: (?:Wait for the git that holds (\/\S+\.lock), and try again\. If no git is running, delete that file\.|Delete the file with `rm (\/\S+\.lock)`)/m;
/** A cut in the middle of a merge has left files half written, or files whose index was not written. */
const HALF_WRITTEN = /^Next: (?:Commit or stash them|Move them away or commit them), then/m;
/** What the merge writes. */
const MERGED = ['left.txt', 'sub'];
const MOST_TRIES = 5;
/** The message of a stash that squad asked for. */
const CUT = 'cut';

/** The stash of the person is there, and those that squad asked for hold nothing but beginnings of what the merge has written since. */
function stashProblems({ repository }: RunRoom, when: string): string[] {
  const stashes = git(repository, 'stash', 'list', '--format=%H %gs').split('\n').filter(Boolean);
  const of = (message: string) =>
    stashes.filter((line) => line.endsWith(`: ${message}`)).map((line) => line.split(' ')[0]!);
  const own = of(MINE.message).map((id) => readAt(repository, `${id}^3:${MINE.path}`));
  return [
    ...(own.length === 1 && own[0] === MINE.text ? [] : [`the person's stash is gone: ${stashes.join('; ')}`]),
    ...(stashes.length === own.length + of(CUT).length ? [] : [`someone else stashed: ${stashes.join('; ')}`]),
    ...(when === 'at the end' ? of(CUT).flatMap((id) => lostIn(repository, id)) : []),
  ].map((problem) => `${when}: ${problem}`);
}

function lostIn(repository: string, stash: string): string[] {
  const changed = git(repository, 'diff', '--name-only', '--no-renames', '--diff-filter=AM', `${stash}^1`, stash);
  const tracked = changed.split('\n').filter(Boolean);
  const untracked =
    readAt(repository, `${stash}^3`) === undefined
      ? []
      : git(repository, 'ls-tree', '-r', '--name-only', `${stash}^3`).split('\n');
  const places = [
    ...tracked.map((path) => [stash, path]),
    ...untracked.filter(Boolean).map((path) => [`${stash}^3`, path]),
  ];
  return places.flatMap(([at, path]) => {
    const [text = '', merged = ''] = [readAt(repository, `${at}:${path}`), readAt(repository, `main:${path}`)];
    return merged.startsWith(text)
      ? []
      : [`squad asked to stash ${path}, which holds no beginning of the merged file: ${text}`];
  });
}

function readAt(repository: string, object: string): string | undefined {
  const found = spawnSync('git', ['cat-file', '-p', object], { cwd: repository, encoding: 'utf8' });
  return found.status === 0 ? found.stdout : undefined;
}

/** As a person who does what squad says next. */
async function run(room: RunRoom, command: readonly string[]): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    const { code, stdout, stderr } = await room.run(command);
    if (code === 0) return [];
    const found = LOCK.exec(stderr);
    const lock = found?.[1] ?? found?.[2];
    if (lock !== undefined) rmSync(lock);
    else if (HALF_WRITTEN.test(stderr)) git(room.repository, ...STASH, '--message', CUT, '--', ...MERGED);
    if (tries < MOST_TRIES && (lock !== undefined || HALF_WRITTEN.test(stderr))) continue;
    return [`squad ${command.join(' ')} ended with ${code}: ${stdout.slice(-MOST_SHOWN)}${stderr}`];
  }
}

/** The same end. A turn at work when the power went may be lost, and is paid again; no other is. */
function compare(room: RunRoom, end: EndState, atWork: number | undefined): string[] {
  const now = endStateOf(room);
  const same = (['tree', 'outcome', 'tasks', 'kept'] as const).flatMap((key) =>
    JSON.stringify(now[key]) === JSON.stringify(end[key])
      ? []
      : [`${key}: ${JSON.stringify(key === 'kept' ? room.reading()?.published?.kept : now[key])}`],
  );
  // Of a turn that asks for a session that went with the power, nothing is paid.
  const free = room
    .reading()
    ?.attempts.filter(({ settlement }) => settlement?.result.failure?.kind === 'session-not-found');
  const more = now.counted.turns - end.counted.turns - (free?.length ?? 0);
  const isPaidTwice = atWork !== undefined && more > atWork;
  return [...same, ...(isPaidTwice ? [`${more} turns more, and ${atWork} were at work: ${now.turns.join('; ')}`] : [])];
}

function damage(room: RunRoom, when: string): string[] {
  const { repository } = room;
  const fsck = spawnSync('git', ['fsck', '--full', '--no-dangling', '--no-progress'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const status = spawnSync('git', ['status', '--porcelain', '-uno'], { cwd: repository, encoding: 'utf8' });
  const check = room.reading() === undefined ? undefined : checkLedger(ledgerPath(stateOf(repository)));
  return [
    ...(fsck.status === 0 && fsck.stderr === '' ? [] : [`git fsck: ${fsck.stdout}${fsck.stderr}`]),
    ...(status.status === 0 && (when !== 'at the end' || status.stdout === '')
      ? []
      : [`git status: ${status.stdout}${status.stderr}`]),
    ...(check?.problems ?? []),
    ...(check?.violations.map(({ rule, message }) => `${rule}: ${message}`) ?? []),
  ].map((problem) => `${when}: ${problem}`);
}

function branchTree(room: RunRoom, name: string): string | undefined {
  const found = spawnSync('git', ['rev-parse', '--verify', '--quiet', `refs/heads/squad/${name}^{tree}`], {
    cwd: room.repository,
    encoding: 'utf8',
  });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

export function mergedTree(room: RunRoom): string {
  return git(room.repository, 'rev-parse', 'main^{tree}');
}
