import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE_STREAM } from '../../src/model/ledger-event.ts';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { readTeam } from '../../src/model/sprint/team.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { scriptedTeam, sprintScript } from '../runs/sprint-run-script.ts';
import { git } from './git.ts';
import { requestPlans, write } from './sprint-script.ts';

const FOLDER = 'team';
const LINE = 'sprints';
const TEXT = 'Make one and two.';

/** Asks for two things, and waits until they are there. */
export const ASK = ['request', TEXT, '--key', 'k', '--wait', 'done', '--yes', '--json'];
/** A sprint for what was planned before. */
export const START = ['sprint', 'start', 'Make good things.', '--yes', '--json'];

export interface TeamBench extends RunBench {
  readonly request: string;
}

/** A whole scripted team that was asked for two things, of which nothing has begun. */
export async function openTeamBench(more: Readonly<Record<string, unknown>> = {}): Promise<TeamBench> {
  const sprint = { folder: FOLDER, timezone: 'Europe/Berlin', ...more };
  const bench = openRunBench({ script: [], settings: { agents: scriptedTeam(), sprint } });
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-qm', 'start');
  const { lines, stderr } = await bench.run(['request', TEXT, '--key', 'k', '--json']);
  const request = lines[0]?.['id'];
  if (typeof request !== 'string') throw new Error(stderr);
  const writes = ['b-one', 'b-two'].map((item) => write(item, { source: `request:${request}` }));
  bench.rescript([
    {
      when: '# Task plan-requests:',
      steps: [{ answer: 'planned' }],
      structured: requestPlans({ [request]: ['b-one', 'b-two'] }, writes),
    },
    ...sprintScript([{ item: 'b-one' }, { item: 'b-two' }]),
  ]);
  return { ...bench, request };
}

/** How a team stands once nothing is left to do, without times, ids and hashes. */
export function teamEndOf({ repository, ledger: open }: RunBench, withFiles = true) {
  const ledger = open();
  try {
    const team = readTeam((kind) => ledger.records(kind));
    return {
      items: [...team.item.keys()].map((id) => `${id} ${team.itemState.get(id)?.state}`).toSorted(),
      sprints: [...team.sprint.keys()].map((id) => team.end.get(id)?.outcome),
      todos: [...team.progress.values()].map(({ todos }) => todos.map(({ id, state }) => `${id} ${state}`).toSorted()),
      line: git(repository, 'log', '--format=%s', LINE, '--not', 'main')
        .split('\n')
        .filter((subject) => /^(?:feat|fix|docs):/.test(subject))
        .toSorted(),
      work: ['b-one.txt', 'b-two.txt'].map((path) => git(repository, 'show', `${LINE}:${path}`)),
      // A service may still write them.
      files: withFiles ? filesOf(join(repository, FOLDER)) : {},
    };
  } finally {
    ledger.close();
  }
}

/** How far a team has come, for the log of a trial: `planning`, or the phase of its sprint. */
export function placeOf({ ledger: open }: RunBench): string {
  const ledger = open();
  try {
    const team = readTeam((kind) => ledger.records(kind));
    if (team.end.size > 0) return 'over';
    const [progress] = team.progress.values();
    return progress?.phase ?? (team.sprint.size > 0 ? 'sprint' : 'requests');
  } finally {
    ledger.close();
  }
}

/** What a history of the team's records never contains, in words. */
export function wrongInHistory({ ledger: open }: RunBench): string[] {
  const ledger = open();
  const events = ledger.events({ stream: WORKSPACE_STREAM, types: ['record-written'] });
  ledger.close();
  const times = new Map<string, number>();
  const wrong: string[] = [];
  const states = new Map<string, string>();
  for (const { data } of events) {
    const { kind, id, value } = data as { kind: string; id: string; value: { state?: string; items?: string[] } };
    const key = `${kind} ${id}`;
    times.set(key, (times.get(key) ?? 0) + 1);
    if (ONCE.has(kind) && times.get(key) !== 1) wrong.push(`${key} is written again`);
    if (kind !== KINDS.itemState) continue;
    const before = states.get(id) ?? 'pending';
    const now = value.state ?? '';
    if (before !== now && !AFTER[before]?.includes(now)) wrong.push(`${id} is ${now} after ${before}`);
    states.set(id, now);
  }
  return wrong;
}

/** An answer to a request, what a planner was given, a sprint and its end. */
const ONCE: ReadonlySet<string> = new Set([KINDS.requestPlan, KINDS.review, KINDS.sprint, KINDS.end]);
const AFTER: Readonly<Record<string, readonly string[]>> = {
  pending: ['selected'],
  selected: ['done'],
};

/** Path and lines of each file, in the order of their paths. */
function filesOf(folder: string): Record<string, readonly string[]> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  const files = paths.map((path) => [alike(path), linesOf(alike(readFileSync(join(folder, path), 'utf8')))] as const);
  return Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** In the order of the alphabet: two todos that are done side by side end in either order. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/,$/, ''))
    .toSorted();
}

/** Without what differs between two teams that did the same: times, how long it took, ids and hashes. */
function alike(text: string): string {
  return text
    .replaceAll(/\b\d{6}-sprint-\d\d[:-]?\d\d(?:-\d+)?(?!\d)/gi, '<sprint>')
    .replaceAll(/\d{4}-\d\d-\d\d(?:T| )\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?/g, '<time>')
    .replaceAll(/\br-[a-z0-9]{8}\b/g, '<request>')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, '<run>')
    .replaceAll(/\b[0-9a-f]{7,64}\b/g, '<hash>')
    .replaceAll(/\b\d{13}\b/g, '<time>')
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s|m|min|h)\b(?: \d+ ?(?:s|m|min)\b)?/g, '<span>')
    .replaceAll(/"(minutes|ms|\w*Ms)": \d+(?:\.\d+)?/g, '"$1": <span>')
    .replaceAll(/\| \d+(?:\.\d+)? (?=\| not known)/g, '| <span> ');
}
