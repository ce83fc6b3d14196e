import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { jsonLines, type Finished } from '../engine.ts';
import { createRandom } from '../random.ts';
import type { RunRoom } from '../run-room.ts';
import { consentIn, followSteps } from './follow-steps.ts';
import { FILE_HARMS, FOLDER_HARMS } from './harms.ts';
import { judge, type Said } from './judge.ts';
import { rowsIn } from './ledger-rows.ts';
import { PLACES, type Place } from './places.ts';
import { endTurns, type KilledRoom } from './room.ts';

/** Hanging is as wrong as a wrong verdict. */
const LONGEST_MS = 240_000;

export interface Pair {
  readonly place: string;
  readonly harm: string;
}

/** Every place with every harm. */
export const PAIRS: readonly Pair[] = Object.entries(PLACES).flatMap(([place, { kind }]) =>
  Object.keys(kind === 'file' ? FILE_HARMS : FOLDER_HARMS).map((harm) => ({ place, harm })),
);

/** `said` is undefined where there is nothing to harm, or the harm is none here. */
export async function damageTrial(
  killed: KilledRoom,
  { place, harm }: Pair,
  seed: number,
): Promise<{ readonly wrong: readonly string[]; readonly said: string | undefined }> {
  const { room, older } = killed;
  killed.reset();
  const about = PLACES[place] as Place;
  const random = createRandom(seed);
  const path = pick(room, about, random);
  const by = (about.kind === 'file' ? FILE_HARMS : FOLDER_HARMS)[harm];
  const state = globSync(join(room.root, 'state/squad/repository-*'))[0] ?? '';
  const before = rowsIn(state);
  if (path === undefined || by?.(path, { random, older: older + path.slice(room.root.length) }) !== true)
    return { wrong: [], said: undefined };
  const rows = compared(before, rowsIn(state));
  const check = await command(room, ['db', 'check']);
  const status = await command(room, ['status']);
  const resume = await command(room, ['resume']);
  const end = { outcome: await outcomeOf(room), isWhole: isWhole(room) };
  const { weight } = about;
  const wrong = judge({ weight, harm, path, rows, check, status, resume, ...end } satisfies Said);
  const codes = [check, status, resume].map(({ code, signal }) => code ?? signal);
  const said = `${place} ${harm} (${relative(room.root, path)}): ${codes.join(', ')}, ${String(end.outcome)}`;
  if (wrong.length === 0 && resume.code !== 0 && resume.code !== 1)
    wrong.push(...(await restoredRun(room, resume, check)));
  endTurns(room);
  return {
    wrong: wrong.map((one) => `${said}: ${one}\n${resume.stdout}${resume.stderr}${check.stdout}${check.stderr}`),
    said,
  };
}

function pick({ root }: RunRoom, { kind, pattern }: Place, random: () => number): string | undefined {
  const named = globSync(join(root, pattern))
    .filter((one) => (kind === 'folder' ? statSync(one).isDirectory() : statSync(one).isFile()))
    .toSorted();
  // There is nothing to harm in an empty file.
  const full = named.filter((one) => statSync(one).size > 0);
  const found = full.length > 0 ? full : named;
  return found[Math.floor(random() * found.length)];
}

function compared(before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): Said['rows'] {
  if (before === undefined || after === undefined || after.size === 0) return 'others';
  if (before.size === after.size && [...after].every((row) => before.has(row))) return 'same';
  // Rows of an earlier moment differ where they are updated; the events alone only grow.
  const events = [...after].filter((row) => row.startsWith('event '));
  return events.length > 0 && events.every((row) => before.has(row)) ? 'fewer' : 'others';
}

/** Follows what squad itself says next, until the run is done; what is wrong with that. */
async function restoredRun(room: RunRoom, resume: Finished, check: Finished): Promise<string[]> {
  const place = { root: room.root, cwd: room.repository, home: room.root };
  const steps = check.code === 65 ? stepsIn(check.stdout) : nextIn(resume.stdout + resume.stderr);
  if (steps.length === 0) return check.code === 65 ? ['check prints no steps'] : [];
  let done = followSteps(place, steps);
  for (let tries = 0; tries < 3 && done.code !== 0; tries += 1) {
    const consent = consentIn(done.said);
    const question = /squad answer (\S+) "?restore/.exec(done.said)?.[1];
    if (consent !== undefined) done = followSteps(place, [consent]);
    else if (question !== undefined) done = followSteps(place, [`squad answer ${question} restore`, 'squad resume']);
    else break;
  }
  const isDone = (await outcomeOf(room)) === 'done' && isWhole(room);
  return isDone ? [] : [`after the steps the run is not done: ${steps.join(' && ')}\n${done.said.slice(-1_500)}`];
}

/** The lines of `squad db check` that are indented below `Next:`. */
function stepsIn(text: string): string[] {
  return text
    .slice(text.indexOf('Next: '))
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim());
}

/** What a person types next, where a command is named that can be typed as it is. */
function nextIn(text: string): string[] {
  const named = /`((?:squad (?:state --adopt|answer)|rm) [^`]+)`/.exec(text)?.[1];
  // With a word in capitals in place of what only a person knows, it cannot.
  return named === undefined || / [A-Z]+$/.test(named) ? [] : [named, 'squad resume'];
}

async function outcomeOf(room: RunRoom): Promise<unknown> {
  return jsonLines((await command(room, ['status', '--json'])).stdout).find((line) => 'outcome' in line)?.['outcome'];
}

function isWhole({ repository }: RunRoom): boolean {
  // Of a repository that was harmed itself, git may wait for a pipe for ever.
  const made = spawnSync('git', ['show', 'squad/fan-out:both.txt'], {
    cwd: repository,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return made.status === 0 && made.stdout === 'left\nright\n';
}

async function command(room: RunRoom, words: readonly string[]): Promise<Finished> {
  const { child, finished } = room.start(words);
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  const end = await finished;
  clearTimeout(timer);
  return end;
}
