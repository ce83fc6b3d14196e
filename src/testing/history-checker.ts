import { isJsonObject } from '../model/json.ts';
import { WORKSPACE_STREAM, type LedgerEvent } from '../model/ledger-event.ts';
import type { LedgerHistory } from '../substrate/ledger/history.ts';

export const HISTORY_RULES = [
  'seq-gap',
  'cause-wrong',
  'epoch-backwards',
  'row-without-event',
  'settled-not-once',
  'settled-before-claim',
  'session-overlap',
  'attempt-numbers',
  'applied-twice',
  'cap-exceeded',
  'usage-without-settlement',
  'late-applied',
  'observed-twice',
  'message-wrong',
  'record-version',
] as const;

export interface Violation {
  readonly rule: (typeof HISTORY_RULES)[number];
  /** Names the rows that break the rule. */
  readonly message: string;
}

/**
 * Judges a whole ledger from outside: every promise of the `Ledger` port that can be seen in what is stored. Runs after
 * every test that kills something. Knows nothing of how the ledger keeps its promises.
 */
export function checkHistory(history: LedgerHistory): Violation[] {
  return [
    ...seqGaps(history),
    ...wrongCauses(history),
    ...backwardEpochs(history),
    ...rowsWithoutEvent(history),
    ...settledNotOnce(history),
    ...sessionOverlaps(history),
    ...attemptNumbers(history),
    ...appliedTwice(history),
    ...capsExceeded(history),
    ...usageWithoutSettlement(history),
    ...lateApplied(history),
    ...observedTwice(history),
    ...wrongMessages(history),
    ...recordVersions(history),
  ];
}

function seqGaps({ events }: LedgerHistory): Violation[] {
  return events.flatMap((event, index) =>
    event.seq === index + 1 ? [] : [violation('seq-gap', `event ${event.seq} stands at place ${index + 1}`)],
  );
}

function wrongCauses(history: LedgerHistory): Violation[] {
  const bySeq = new Map(history.events.map((event) => [event.seq, event]));
  return history.events.flatMap((event) => {
    if (event.cause === null) return [];
    const cause = bySeq.get(event.cause);
    if (cause === undefined)
      return [violation('cause-wrong', `event ${event.seq}: its cause ${event.cause} is missing`)];
    if (cause.seq >= event.seq)
      return [violation('cause-wrong', `event ${event.seq} comes before its cause ${cause.seq}`)];
    if (cause.cause !== null)
      return [violation('cause-wrong', `event ${event.seq}: its cause ${cause.seq} is a decision`)];
    if (cause.stream === event.stream || cause.stream === WORKSPACE_STREAM) return [];
    return [violation('cause-wrong', `event ${event.seq}: its cause ${cause.seq} belongs to ${cause.stream}`)];
  });
}

function backwardEpochs({ events }: LedgerHistory): Violation[] {
  const newest = new Map<string, number>();
  return events.flatMap((event) => {
    if (event.epoch === null) return [];
    const before = newest.get(event.stream) ?? 0;
    newest.set(event.stream, Math.max(before, event.epoch));
    if (event.epoch >= before) return [];
    return [
      violation('epoch-backwards', `event ${event.seq} of ${event.stream}: epoch ${event.epoch} after ${before}`),
    ];
  });
}

function rowsWithoutEvent(history: LedgerHistory): Violation[] {
  const bySeq = new Map(history.events.map((event) => [event.seq, event]));
  const rows = [
    ...history.attempts.map((row) => ({ seq: row.claimSeq, type: 'attempt-claimed', about: row.id })),
    ...history.settlements.map((row) => ({ seq: row.seq, type: 'attempt-settled', about: row.attemptId })),
    ...history.lateResults.map((row) => ({ seq: row.seq, type: 'late-result', about: row.attemptId })),
    ...history.observations.map((row) => ({ seq: row.seq, type: row.type, about: row.attemptId })),
    ...history.commands.map((row) => ({ seq: row.seq, type: 'operator-command', about: undefined })),
  ];
  return rows.flatMap(({ seq, type, about }) => {
    const event = bySeq.get(seq);
    if (event?.type === type && (about === undefined || attemptOf(event) === about)) return [];
    return [violation('row-without-event', `${type} of ${about ?? 'a command'}: event ${seq} does not say so`)];
  });
}

function settledNotOnce(history: LedgerHistory): Violation[] {
  const attempts = new Map(history.attempts.map((attempt) => [attempt.id, attempt]));
  const settlements = groupBy(history.settlements, (row) => row.attemptId);
  const events = groupBy(ofType(history, 'attempt-settled'), (event) => attemptOf(event) ?? '');
  const wrongCount = history.attempts.flatMap((attempt) => {
    const wanted = attempt.status === 'settled' ? 1 : 0;
    const rows = settlements.get(attempt.id)?.length ?? 0;
    const told = events.get(attempt.id)?.length ?? 0;
    if (rows === wanted && told === wanted) return [];
    return [violation('settled-not-once', `attempt ${attempt.id} is ${attempt.status}: ${rows} rows, ${told} events`)];
  });
  const tooEarly = history.settlements.flatMap((row) => {
    const attempt = attempts.get(row.attemptId);
    if (attempt !== undefined && row.seq > attempt.claimSeq) return [];
    return [violation('settled-before-claim', `attempt ${row.attemptId} was settled at ${row.seq}, before its claim`)];
  });
  return [...wrongCount, ...tooEarly];
}

function sessionOverlaps(history: LedgerHistory): Violation[] {
  const ends = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const bySession = groupBy(history.attempts, (attempt) => attempt.sessionKey ?? '');
  bySession.delete('');
  return [...bySession].flatMap(([session, attempts]) =>
    attempts
      .toSorted((a, b) => a.claimSeq - b.claimSeq)
      .flatMap((attempt, index, ordered) => {
        const next = ordered[index + 1];
        if (next === undefined || (ends.get(attempt.id) ?? Number.POSITIVE_INFINITY) < next.claimSeq) return [];
        return [
          violation('session-overlap', `session ${session}: ${attempt.id} still lived when ${next.id} was claimed`),
        ];
      }),
  );
}

function attemptNumbers(history: LedgerHistory): Violation[] {
  const byTask = groupBy(history.attempts, (attempt) => `${attempt.runId} ${attempt.taskId}`);
  return [...byTask].flatMap(([task, attempts]) => {
    const numbers = attempts.toSorted((a, b) => a.claimSeq - b.claimSeq).map((attempt) => attempt.number);
    if (numbers.every((number, index) => number === index + 1)) return [];
    return [violation('attempt-numbers', `task ${task} has the attempts ${numbers.join(', ')}`)];
  });
}

/** The steps of a run are one chain: each starts where the last one ended, and every decision belongs to one of them. */
function appliedTwice(history: LedgerHistory): Violation[] {
  const byRun = groupBy(history.applications, (step) => step.runId);
  const chains = history.runs.flatMap((run) => {
    const found: Violation[] = [];
    const seen = new Set<string>();
    let at = 0;
    for (const step of byRun.get(run.id) ?? []) {
      const key = `${step.cursor} ${step.seq}`;
      if (step.cursor !== at || step.seq < step.cursor || seen.has(key)) {
        found.push(violation('applied-twice', `run ${run.id} at ${at}: a step from ${step.cursor} to ${step.seq}`));
      }
      seen.add(key);
      at = step.seq;
    }
    if (run.applied !== at)
      found.push(violation('applied-twice', `run ${run.id} says ${run.applied}, its steps ${at}`));
    return found;
  });
  const epochs = new Map<string, Set<number>>();
  for (const step of history.applications) {
    const key = `${step.runId} ${step.seq}`;
    epochs.set(key, (epochs.get(key) ?? new Set()).add(step.epoch));
  }
  const strays = history.events.flatMap((event) => {
    if (event.cause === null || event.epoch === null) return [];
    if (epochs.get(`${event.stream} ${event.cause}`)?.has(event.epoch) === true) return [];
    return [violation('applied-twice', `decision ${event.seq} belongs to no step of epoch ${event.epoch}`)];
  });
  return [...chains, ...strays];
}

function capsExceeded(history: LedgerHistory): Violation[] {
  const settledAt = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const usage = new Map(history.usage.map((row) => [row.attemptId, row]));
  return Object.entries(history.limits ?? {}).flatMap(([runId, limits]) => {
    const attempts = history.attempts.filter((attempt) => attempt.runId === runId);
    const turns = attempts.filter((attempt) => attempt.kind === 'turn').toSorted((a, b) => a.claimSeq - b.claimSeq);
    const found = attempts
      .filter((attempt) => attempt.number > (limits.retries ?? Number.POSITIVE_INFINITY) + 1)
      .map((attempt) => violation('cap-exceeded', `attempt ${attempt.id} is number ${attempt.number} of its task`));
    for (const [index, turn] of turns.entries()) {
      const ended = turns.filter((other) => (settledAt.get(other.id) ?? Number.POSITIVE_INFINITY) < turn.claimSeq);
      const tokens = ended.reduce((sum, other) => sum + (usage.get(other.id)?.tokens ?? 0), 0);
      const usd = ended.reduce((sum, other) => sum + (usage.get(other.id)?.costUsd ?? 0), 0);
      const caps: [string, number, number | undefined][] = [
        ['turns', index, limits.turns],
        ['tokens', tokens, limits.tokens],
        ['usd', usd, limits.usd],
      ];
      for (const [name, used, cap] of caps) {
        if (cap === undefined || used < cap) continue;
        found.push(violation('cap-exceeded', `attempt ${turn.id} was claimed with ${used} of ${cap} ${name} used`));
      }
    }
    return found;
  });
}

function usageWithoutSettlement(history: LedgerHistory): Violation[] {
  const settled = new Set(history.settlements.map((row) => row.attemptId));
  const used = new Set(history.usage.map((row) => row.attemptId));
  const unmatched = [...settled, ...used].filter((id) => !settled.has(id) || !used.has(id));
  return unmatched.map((id) =>
    violation(
      'usage-without-settlement',
      `attempt ${id} has ${used.has(id) ? 'usage but no settlement' : 'no usage row'}`,
    ),
  );
}

/** A late result differs from the one that counted, came after it, and is on record once. */
function lateApplied(history: LedgerHistory): Violation[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row]));
  const seen = new Set<string>();
  return history.lateResults.flatMap((late) => {
    const key = `${late.attemptId} ${late.digest}`;
    const counted = settled.get(late.attemptId);
    const wrong = counted === undefined || counted.digest === late.digest || counted.seq >= late.seq || seen.has(key);
    seen.add(key);
    return wrong ? [violation('late-applied', `late result ${late.seq} of attempt ${late.attemptId}`)] : [];
  });
}

function observedTwice(history: LedgerHistory): Violation[] {
  const types = new Set(history.observations.map((row) => row.type));
  const facts = history.events.filter((event) => event.cause === null && types.has(event.type));
  const byFact = groupBy(facts, (event) => `${event.type} of attempt ${attemptOf(event) ?? '?'}`);
  return [...byFact].flatMap(([fact, events]) =>
    events.length === 1
      ? []
      : [violation('observed-twice', `${fact}: events ${events.map((event) => event.seq).join(', ')}`)],
  );
}

function wrongMessages(history: LedgerHistory): Violation[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const seen = new Set<string>();
  return history.messages.flatMap((message) => {
    const wrong = seen.has(message.id) || settled.get(message.attemptId) !== message.seq;
    seen.add(message.id);
    return wrong ? [violation('message-wrong', `message ${message.id} did not come once, with its settlement`)] : [];
  });
}

function recordVersions(history: LedgerHistory): Violation[] {
  const versions = new Map<string, number>();
  const found: Violation[] = [];
  for (const event of ofType(history, 'record-put')) {
    if (!isJsonObject(event.data)) continue;
    const key = `${String(event.data['kind'])} ${String(event.data['id'])}`;
    const expected = (versions.get(key) ?? 0) + 1;
    versions.set(key, expected);
    if (event.data['version'] === expected) continue;
    found.push(violation('record-version', `record ${key}: event ${event.seq} is not version ${expected}`));
  }
  for (const row of history.records) {
    if (versions.get(`${row.kind} ${row.id}`) === row.version) continue;
    found.push(
      violation('record-version', `record ${row.kind} ${row.id} is version ${row.version}, its events differ`),
    );
  }
  return found;
}

function ofType(history: LedgerHistory, type: string): LedgerEvent[] {
  return history.events.filter((event) => event.type === type);
}

function attemptOf(event: LedgerEvent): string | undefined {
  if (!isJsonObject(event.data)) return undefined;
  const id = event.data['attemptId'];
  return typeof id === 'string' ? id : undefined;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function violation(rule: Violation['rule'], message: string): Violation {
  return { rule, message };
}
