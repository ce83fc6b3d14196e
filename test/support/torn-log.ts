import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import {
  exportLedger,
  ledgerPath,
  lockWorkspace,
  openLedger,
  type WorkspaceLock,
} from '../../src/substrate/ledger/index.ts';
import type { Decision, Lease, Ledger } from '../../src/substrate/ports/ledger.ts';
import { isSquadError } from '../../src/model/errors.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { createRandom } from './random.ts';

/** In memory where there is such a place: the tears are made here, no disk has to fail, and flushing is most of the time. */
const ROOM = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
/** Of one history; then another one is made. */
const TRIALS_OF_ONE = 200;
/** Few enough that each boundary of a frame has its turns among 200 trials. */
const COMMITS = 8;
const clock = { now: () => 5 };
const holder = { pid: process.pid, host: 'here', since: 0 };

/** What the ledger held when a commit was acknowledged, and how long its log was then. */
interface Acked {
  readonly logBytes: number;
  readonly lines: string;
}

interface Tear {
  readonly at: number;
  /** Bytes that are no longer what they were; undefined: the log ends there. */
  readonly garbled: number | undefined;
}

/**
 * Logs of a ledger that are cut or garbled at every frame's boundary, then anywhere: what an engine then finds is one of
 * the acknowledged states, none that was acknowledged before the tear is lost, and nothing breaks a rule. A log that is garbled
 * before a whole commit is refused and left as it is. Returns what went wrong, how many trials found fewer commits than there
 * were, and how many were refused. `trials`: whole hundreds, 200 a history.
 */
export function tearLogs(trials: number, seed: number): { failures: string[]; shorter: number; refused: number } {
  const random = createRandom(seed);
  const failures: string[] = [];
  let [shorter, refused] = [0, 0];
  for (let made = 0; made < trials; made += TRIALS_OF_ONE) {
    const root = mkdtempSync(join(ROOM, 'squad-torn-'));
    try {
      const acked = inWorkspace(join(root, 'made'), (lock) => makeHistory(root, lock, random));
      inWorkspace(join(root, 'torn'), (lock) => {
        for (const [trial, tear] of tearsOf(acked, random).entries()) {
          const found = findTorn(root, lock, acked, tear);
          if (found.harm !== undefined) failures.push(`trial ${made + trial} of seed ${seed}: ${found.harm}`);
          if (found.state === REFUSED) refused += 1;
          else if (found.state < acked.length - 1) shorter += 1;
        }
      });
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return { failures, shorter, refused };
}

function inWorkspace<T>(directory: string, work: (lock: WorkspaceLock) => T): T {
  mkdirSync(directory, { mode: 0o700 });
  const lock = lockWorkspace(directory, holder);
  try {
    return work(lock);
  } finally {
    lock.release();
  }
}

/** Commits of every kind, none of which is in the file itself: `whole.db` and `whole.log`, as a dead engine leaves them. */
function makeHistory(root: string, lock: WorkspaceLock, random: () => number): Acked[] {
  const path = ledgerPath(lock.directory);
  const open = (): Ledger => openLedger(lock.directory, { clock, lock, ballastBytes: 4096 });
  const first = open();
  first.createRun({ id: 'r', name: 'r' });
  const lease = first.acquireLease('r', 'test');
  first.close();
  const ledger = open();
  const acked = [{ logBytes: HEADER_BYTES, lines: linesOf(path) }];
  for (let commit = 0; commit < COMMITS; commit += 1) {
    commitSomething(ledger, lease, commit, random);
    acked.push({ logBytes: readFileSync(`${path}-wal`).length, lines: linesOf(path) });
  }
  copyFileSync(path, join(root, 'whole.db'));
  copyFileSync(`${path}-wal`, join(root, 'whole.log'));
  ledger.close();
  return acked;
}

function commitSomething(ledger: Ledger, lease: Lease, commit: number, random: () => number): void {
  const [live] = ledger.attempts({ status: 'claimed' });
  const kind = Math.floor(random() * 4);
  if (kind === 0) ledger.append('r', 'poke', 'x'.repeat(Math.floor(random() * 9_000)));
  else if (kind === 1 && live !== undefined) {
    const text = 'y'.repeat(Math.floor(random() * 9_000));
    const result: TurnResult = { outcome: 'completed', text, denials: [], stderrTail: '', durationMs: 1 };
    ledger.settle(lease, live.id, result);
  } else if (kind === 2) ledger.command('r', 'pause', { commit }, 'me');
  else applySomething(ledger, lease, commit);
}

function applySomething(ledger: Ledger, lease: Lease, commit: number): void {
  const seq = ledger.events({ stream: 'r' }).findLast(({ cause, epoch }) => cause === null && epoch === null)?.seq;
  const cursor = ledger.run('r')?.applied ?? 0;
  if (seq === undefined || seq <= cursor) return void ledger.append('r', 'poke', null);
  const attempt = { id: `a-${commit}`, taskId: `t${commit}`, kind: 'turn', agent: 'builder', runtime: 'x' } as const;
  const decisions: Decision[] = [
    { do: 'claim-attempt', attempt: { ...attempt, request: '{}' }, limits: {} },
    { do: 'set-timer', id: `timer-${commit}`, dueAt: commit, data: null },
    { do: 'record', type: 'noted', data: { commit } },
  ];
  ledger.apply({ lease, cursor, seq, driver: `d${commit}`, decisions });
}

/** At each boundary a cut and a garbled byte, then whatever is left at random. */
function tearsOf(acked: readonly Acked[], random: () => number): Tear[] {
  const end = acked.at(-1)?.logBytes ?? 0;
  const boundaries = Array.from(
    { length: (end - HEADER_BYTES) / FRAME_BYTES },
    (_, frame) => HEADER_BYTES + frame * FRAME_BYTES,
  );
  const tears = [0, ...boundaries].flatMap((at): Tear[] => [
    { at, garbled: undefined },
    { at, garbled: 1 },
  ]);
  if (tears.length > TRIALS_OF_ONE)
    throw new Error(`${TRIALS_OF_ONE} trials are too few for ${boundaries.length} frames`);
  while (tears.length < TRIALS_OF_ONE) {
    const at = Math.floor(random() * end);
    tears.push({ at, garbled: random() < 0.5 ? undefined : 1 + Math.floor(random() * (end - at - 1)) });
  }
  return tears;
}

const REFUSED = -2;

/** `state`: the place of what was found among what was acknowledged; -1: it is none of it; -2: the log was refused. */
function findTorn(
  root: string,
  lock: WorkspaceLock,
  acked: readonly Acked[],
  tear: Tear,
): { state: number; harm: string | undefined } {
  const path = ledgerPath(lock.directory);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  copyFileSync(join(root, 'whole.db'), path);
  const log = torn(readFileSync(join(root, 'whole.log')), tear);
  writeFileSync(`${path}-wal`, log);
  const what = `${tear.garbled === undefined ? 'cut' : `${tear.garbled} bytes garbled`} at ${tear.at}`;
  try {
    openLedger(lock.directory, { clock, lock, ballastBytes: 4096 }).close();
    if (isCommitAfter(acked, tear) && tear.garbled === 1) return { state: -1, harm: `${what}: it was opened` };
    const lines = linesOf(path);
    const state = acked.findIndex((commit) => commit.lines === lines);
    const least = acked.findLastIndex(({ logBytes }) => logBytes <= Math.max(tear.at, HEADER_BYTES));
    const { problems, violations } = checkLedger(path);
    const broken = [...problems, ...violations.map(({ message }) => message)];
    if (broken.length > 0) return { state, harm: `${what}: ${broken.join('; ')}` };
    if (state < 0) return { state, harm: `${what}: not a state that was acknowledged` };
    return { state, harm: state < least ? `${what}: ${least - state} acknowledged commits are lost` : undefined };
  } catch (error) {
    const isDamage = isSquadError(error) && error.code === 'database-corrupt' && isCommitAfter(acked, tear);
    if (!isDamage) return { state: -1, harm: `${what}: ${String(error)}` };
    const isKept = log.equals(readFileSync(`${path}-wal`));
    return { state: REFUSED, harm: isKept ? undefined : `${what}: the log was refused, and changed` };
  }
}

/** Whether the log is garbled before its last commit. One garbled byte leaves the rest whole; more may reach its end. */
function isCommitAfter(acked: readonly Acked[], { at, garbled }: Tear): boolean {
  return garbled !== undefined && at < (acked.at(-2)?.logBytes ?? 0);
}

function torn(log: Buffer, { at, garbled }: Tear): Buffer {
  if (garbled === undefined) return log.subarray(0, at);
  for (let place = at; place < at + garbled; place += 1) log[place] = (log[place] ?? 0) ^ 0xa5;
  return log;
}

function linesOf(path: string): string {
  return [...exportLedger(path, null)].join('');
}
