import { spawnSync } from 'node:child_process';
import { wrongEnvironment } from '../../../model/errors.ts';
import { climb, type ProcessEntry, type ProcessSource } from './process-source.ts';

const isDarwin = process.platform === 'darwin';
/** `ps` of macOS and of procps differ in how they are asked for environments. */
const WITH_ENVIRONMENT = isDarwin ? ['-Eww'] : ['eww'];
const WITHOUT = isDarwin ? ['-ww'] : ['ww'];
const ROW_COLUMNS = '-o pid= -o ppid= -o pgid= -o stat= -o etime= -o lstart='.split(' ');
const WORD_COLUMNS = ['-o', 'pid=', '-o', 'command='];
const BOOT = isDarwin ? 'kern.bootsessionuuid' : 'kernel.random.boot_id';
/** English names of months, and no hour that comes twice. */
const PLAIN = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
/** Start times are relative to this one's, so that a clock that is set moves none of them. */
const FIRST = 1;
/** Several looks at the same moment share one answer. */
const FRESH_MS = 20;

interface Row {
  readonly entry: ProcessEntry;
  readonly ageMs: number;
}

/** An answer about all processes. */
let seen: { readonly at: number; readonly rows: ReadonlyMap<number, Row> } | undefined;
/** Each by one question, however long the machine takes for it: an environment hardly changes. */
const environmentsOfLists = new WeakMap<readonly ProcessEntry[], ReadonlyMap<number, string>>();
let bootId: string | undefined;

/**
 * Processes as `ps` shows them: macOS, and any other system without /proc. Start times are in seconds, and sessions are not seen. A value
 * with a blank looks like two. Experimental, not yet tried on a Mac.
 */
export const PS_SOURCE: ProcessSource = {
  read: (pid) => rowOf(pid)?.entry,
  readAll: () => [...lookAtAll().values()].map(({ entry }) => entry),
  lineage: (pid, most) => {
    const rows = lookAtAll();
    return climb(pid, most, (one) => rows.get(one)?.entry);
  },
  environment: (pid, part, of) => {
    const words = (of === undefined ? environmentsOf(['-p', String(pid)]) : environmentsOfAll(of)).get(pid);
    if (words === undefined || words === '') return undefined;
    return words.includes(part) ? words.split(' ') : [];
  },
  bootId: () => (bootId ??= ask('sysctl', ['-n', BOOT]).text.trim()),
  ageMs: (pid, startTime) => {
    const row = rowOf(pid);
    return row?.entry.startTime === startTime ? row.ageMs : undefined;
  },
};

function lookAtAll(): ReadonlyMap<number, Row> {
  const rows = rowsOf(['-A']);
  seen = { at: performance.now(), rows };
  return rows;
}

/** A process that was there a moment ago counts as there; one that was not may have begun since. */
function rowOf(pid: number): Row | undefined {
  const fresh = seen !== undefined && performance.now() - seen.at < FRESH_MS ? seen.rows : undefined;
  return fresh?.get(pid) ?? rowsOf(['-p', `${FIRST},${pid}`]).get(pid);
}

function environmentsOfAll(list: readonly ProcessEntry[]): ReadonlyMap<number, string> {
  const known = environmentsOfLists.get(list) ?? environmentsOf(['-A']);
  environmentsOfLists.set(list, known);
  return known;
}

function rowsOf(which: readonly string[]): Map<number, Row> {
  const { pid: own, text } = ask('ps', [...which, ...ROW_COLUMNS]);
  return parseRows(text, own);
}

function environmentsOf(which: readonly string[]): Map<number, string> {
  const [bare, full] = [WITHOUT, WITH_ENVIRONMENT].map((how) => ask('ps', [...how, ...which, ...WORD_COLUMNS]).text);
  return environmentsIn(bare ?? '', full ?? '');
}

/** `ps` shows an environment behind the arguments, which may say anything. */
export function environmentsIn(bare: string, full: string): Map<number, string> {
  const known = new Map(wordsIn(bare));
  return new Map(
    wordsIn(full).flatMap(([pid, words]) => {
      const before = known.get(pid);
      // The process became another program between the two answers.
      return before === undefined || !words.startsWith(before) ? [] : [[pid, words.slice(before.length).trim()]];
    }),
  );
}

function wordsIn(text: string): [number, string][] {
  return text.split('\n').flatMap((line): [number, string][] => {
    const [, pid, words = ''] = /^\s*(\d+) ?(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [[Number(pid), words]];
  });
}

/** `own`: the process that printed it, which is gone. */
export function parseRows(text: string, own: number): Map<number, Row> {
  const found = text.split('\n').flatMap((line) => parseRow(line) ?? []);
  const first = found.find(({ pid }) => pid === FIRST)?.startedAt ?? 0;
  return new Map(
    found
      .filter(({ pid, state }) => pid !== own && !state.startsWith('Z'))
      .map(({ pid, parent, group, startedAt, ageMs }) => {
        const startTime = String((startedAt - first) / 1000);
        return [pid, { entry: { pid, parent, group, session: 0, startTime }, ageMs }];
      }),
  );
}

const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([\d:-]+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s*$/;

function parseRow(line: string) {
  const [, pid, parent, group, state = '', age = '', start = ''] = ROW.exec(line) ?? [];
  const startedAt = Date.parse(`${start.replaceAll(/\s+/g, ' ')} UTC`);
  if (pid === undefined || !Number.isFinite(startedAt)) return undefined;
  const of = { pid: Number(pid), parent: Number(parent), group: Number(group) };
  return { ...of, state, startedAt, ageMs: elapsedMs(age) };
}

/** `[[days-]hours:]minutes:seconds`. */
export function elapsedMs(text: string): number {
  const [days = '0', clock = text] = text.includes('-') ? text.split('-') : [];
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

/** An empty answer is one: the process is gone. */
function ask(program: string, args: readonly string[]): { readonly pid: number; readonly text: string } {
  const { pid, stdout, error } = spawnSync(program, args, {
    ...{ cwd: '/', env: PLAIN, encoding: 'latin1', maxBuffer: 64 * 1024 * 1024 },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error === undefined) return { pid, text: stdout };
  // No free descriptor or process says nothing about what was asked for.
  if (!('code' in error) || error.code !== 'ENOENT') throw error;
  throw wrongEnvironment(`squad finds its processes by \`${program}\`, which is not installed`, 'Install it.');
}
