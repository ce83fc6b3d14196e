import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { DAMAGES, damageFile, type Damage } from './damage.ts';
import { jsonLines, type Finished } from './engine.ts';
import { git, gitCode } from './git.ts';
import { killAll, livingTurns, markedPids } from './marked-pids.ts';
import type { RunRoom } from './run-room.ts';
import { stateOf } from './state.ts';

/** What can be in the place of a file, besides a file that came to harm. */
const REPLACED: Readonly<Record<string, (path: string) => void>> = {
  gone: () => undefined,
  'a folder': (path) => mkdirSync(path),
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a link': (path) => symlinkSync(`${path}.real`, path),
  'a link to nothing': (path) => symlinkSync(`${path}.nowhere`, path),
  'another file': (path) => writeFileSync(path, 'no file of squad, and longer than what a header takes\n'.repeat(9)),
};

export const HARMS: readonly string[] = [...Object.keys(DAMAGES), ...Object.keys(REPLACED)];

/** Patterns of files below the state folder, by what they are. */
export const PLACES: Readonly<Record<string, string>> = {
  ledger: 'squad.db',
  'its log': 'squad.db-wal',
  'its index': 'squad.db-shm',
  checkpoints: 'checkpoints.db',
  'their log': 'checkpoints.db-wal',
  lock: 'lock.db',
  'exit of a turn': 'turns/*/exit',
  'launch of a turn': 'turns/*/launch.json',
  'output of a turn': 'turns/*/stdout',
  'refs of a run': 'work/*/.squad/run.git/{HEAD,config,packed-refs}',
  'notes of folders': 'work/*/.squad/*.json',
  backup: 'backups/*.db',
};

/** Hanging is as wrong as a wrong verdict. */
const LONGEST_MS = 60_000;

/** A run whose engine was killed in the middle, with a backup, kept so that each trial begins from it. */
export async function killedRoom(room: RunRoom): Promise<void> {
  const first = await room.begin({ SQUAD_FAILPOINTS: 'attempt.settled:4=kill' }).finished;
  if (first.signal !== 'SIGKILL') throw new Error(`the engine was not killed: ${first.stderr}`);
  const state = stateOf(room.repository);
  killAll(globSync(join(state, 'turns', '*')).flatMap((path) => markedPids(basename(path))));
  const files = ['squad.db', 'squad.db-wal', 'squad.db-shm'].map((name) => join(state, name));
  for (const file of files) cpSync(file, `${file}.kept`);
  // A reader that is the last to leave brings the log into the file.
  const backup = await room.run(['db', 'backup']);
  if (backup.code !== 0) throw new Error(backup.stderr);
  for (const file of files) renameSync(`${file}.kept`, file);
  copyTree(room.root, `${room.root}.kept`);
}

/** undefined: all that was said is right, and agrees. `place`: of PLACES. */
export async function damageTrial(
  room: RunRoom,
  { place, harm, random }: { readonly place: string; readonly harm: string; readonly random: () => number },
): Promise<{ readonly wrong: readonly string[]; readonly said: string }> {
  rmSync(room.root, { recursive: true, force: true });
  copyTree(`${room.root}.kept`, room.root);
  const state = stateOf(room.repository);
  const named = globSync(join(state, PLACES[place] ?? '')).toSorted();
  // There is nothing to harm in an empty file.
  const full = named.filter((one) => statSync(one).size > 0);
  const found = full.length > 0 ? full : named;
  const path = found[Math.floor(random() * found.length)];
  if (path === undefined) throw new Error(`there is no ${place} in ${state}`);
  damage(path, harm, random);
  const check = await command(room, ['db', 'check', '--json']);
  const status = await command(room, ['status', '--json']);
  const resume = await command(room, ['resume', '--json']);
  const after = await command(room, ['status', '--json']);
  const wrong = judge(room, place, { check, status, resume, after });
  const said = `${relative(state, path)}, ${harm}: check ${check.code}, status ${status.code}, resume ${resume.code}`;
  const turns =
    check.code === 0
      ? livingTurns(state)
      : globSync(join(state, 'turns', '*')).flatMap((one) => markedPids(basename(one)));
  killAll(turns);
  return { wrong: wrong.map((one) => `${said}: ${one}\n${resume.stderr}${check.stderr}`), said };
}

function damage(path: string, harm: string, random: () => number): void {
  if (harm in DAMAGES) return void damageFile(path, harm as Damage, random);
  renameSync(path, `${path}.real`);
  if (harm !== 'a link') rmSync(`${path}.real`);
  REPLACED[harm]?.(path);
}

type Said = Readonly<Record<'check' | 'status' | 'resume' | 'after', Finished>>;

function judge({ repository }: RunRoom, place: string, said: Said): string[] {
  const { check, status, resume, after } = said;
  const wrong: string[] = [];
  for (const [name, { signal, stderr }] of Object.entries(said)) {
    if (signal !== null) wrong.push(`${name} hung`);
    if (/a bug|TypeError|\bat file:/.test(stderr)) wrong.push(`${name} found a bug: ${stderr}`);
  }
  const outcome = jsonLines(after.stdout).at(-1)?.['outcome'];
  const made = 'squad/fan-out:both.txt';
  const whole =
    gitCode(repository, 'cat-file', '-e', made) === 0 && git(repository, 'show', made).trim() === 'left\nright';
  if (outcome === 'done' && !whole) wrong.push('done, and the work is not there');
  const codes = [check.code, status.code, resume.code];
  if (![0, 65, 75].includes(check.code ?? -1)) wrong.push(`db check ended with ${check.code}`);
  if (check.code === 65 && !(check.stdout + check.stderr).includes('squad.db')) wrong.push('db check names no file');
  if ([status.code, resume.code].includes(2)) wrong.push(`no run: ${codes.join()}`);
  const isOfLedger = ['ledger', 'its log', 'its index'].includes(place);
  if (check.code !== 0 && !isOfLedger) wrong.push(`db check: ${check.code}, but the ledger is sound`);
  if (check.code === 75 && (status.code !== 75 || resume.code !== 75)) wrong.push(`they do not agree: ${codes.join()}`);
  // status reads what it needs of a ledger; whatever it cannot read it calls damaged as well.
  if (check.code === 65 && resume.code !== 65) wrong.push(`resume works on damage: ${codes.join()}`);
  if (check.code === 0 && status.code !== 0) wrong.push(`status finds damage where check finds none: ${codes.join()}`);
  // What a task's own files have lost may cost that task; the ledger alone costs nothing.
  if (check.code === 0 && isOfLedger && outcome !== 'done') wrong.push(`sound, and ends as ${String(outcome)}`);
  return wrong;
}

async function command(room: RunRoom, words: readonly string[]): Promise<Finished> {
  const { child, finished } = room.start(words);
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  const end = await finished;
  clearTimeout(timer);
  return end;
}

/** With modes, times and links, as they are. */
function copyTree(from: string, to: string): void {
  if (existsSync(to)) throw new Error(`${to} is there`);
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
