import { isJsonObject } from '../../model/json.ts';
import type { LedgerHistory } from './history.ts';
import { attemptOf, groupBy, ofType, violation, type Violation } from './history-tools.ts';

export function settledNotOnce(history: LedgerHistory): Violation[] {
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

export function sessionOverlaps(history: LedgerHistory): Violation[] {
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

export function attemptNumbers(history: LedgerHistory): Violation[] {
  const byTask = groupBy(history.attempts, (attempt) => `${attempt.runId} ${attempt.taskId}`);
  return [...byTask].flatMap(([task, attempts]) => {
    const numbers = attempts.toSorted((a, b) => a.claimSeq - b.claimSeq).map((attempt) => attempt.number);
    if (numbers.every((number, index) => number === index + 1)) return [];
    return [violation('attempt-numbers', `task ${task} has the attempts ${numbers.join(', ')}`)];
  });
}

export function capsExceeded(history: LedgerHistory): Violation[] {
  const settledAt = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const usage = new Map(history.usage.map((row) => [row.attemptId, row]));
  const neverStarted = neverStartedIds(history);
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
        ['turns', index - ended.filter(({ id }) => neverStarted.has(id)).length, limits.turns],
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

/** Of turns whose agent never ran: they count for no cap. */
function neverStartedIds(history: LedgerHistory): Set<string> {
  const settled = ofType(history, 'attempt-settled');
  const unstarted = settled.filter(({ data }) => isJsonObject(data) && data['failure'] === 'never-started');
  return new Set(unstarted.flatMap((event) => attemptOf(event) ?? []));
}

export function usageWithoutSettlement(history: LedgerHistory): Violation[] {
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
export function lateApplied(history: LedgerHistory): Violation[] {
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

export function observedTwice(history: LedgerHistory): Violation[] {
  const types = new Set(history.observations.map((row) => row.type));
  const facts = history.events.filter((event) => event.cause === null && types.has(event.type));
  const byFact = groupBy(facts, (event) => `${event.type} of attempt ${attemptOf(event) ?? '?'}`);
  return [...byFact].flatMap(([fact, events]) =>
    events.length === 1
      ? []
      : [violation('observed-twice', `${fact}: events ${events.map((event) => event.seq).join(', ')}`)],
  );
}

export function wrongMessages(history: LedgerHistory): Violation[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const seen = new Set<string>();
  return history.messages.flatMap((message) => {
    const wrong = seen.has(message.id) || settled.get(message.attemptId) !== message.seq;
    seen.add(message.id);
    return wrong ? [violation('message-wrong', `message ${message.id} did not come once, with its settlement`)] : [];
  });
}
