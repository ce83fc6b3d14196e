import { z } from 'zod';
import type { LedgerHistory } from './history.ts';
import { attemptOf, groupBy, ofType, violation, type Violation } from './history-tools.ts';

const settledSchema = z.object({
  outcome: z.string(),
  failure: z.string().nullable(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number().optional() }).nullable(),
});

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

/** Only turns count, and each against the caps that held when it was claimed. */
export function capsExceeded(history: LedgerHistory): Violation[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row]));
  const usage = new Map(history.usage.map((row) => [row.attemptId, row]));
  return Object.entries(history.limits ?? {}).flatMap(([runId, steps]) => {
    const turns = history.attempts
      .filter((attempt) => attempt.runId === runId && attempt.kind === 'turn')
      .toSorted((a, b) => a.claimSeq - b.claimSeq);
    return turns.flatMap((turn, index) => {
      const limits = steps.findLast(({ since }) => since < turn.claimSeq)?.limits ?? {};
      const ended = turns.filter((other) => (settled.get(other.id)?.seq ?? Number.POSITIVE_INFINITY) < turn.claimSeq);
      // An agent that never ran counts for no cap.
      const idle = ended.filter(({ id }) => settled.get(id)?.failure === 'never-started').length;
      const tokens = ended.reduce((sum, other) => sum + (usage.get(other.id)?.tokens ?? 0), 0);
      const usd = ended.reduce((sum, other) => sum + (usage.get(other.id)?.costUsd ?? 0), 0);
      const caps: [string, number, number | undefined][] = [
        ['turns', index - idle, limits.turns],
        ['tokens', tokens, limits.tokens],
        ['usd', usd, limits.usd],
      ];
      return caps
        .filter(([, used, cap]) => cap !== undefined && used >= cap)
        .map(([name, used, cap]) =>
          violation('cap-exceeded', `attempt ${turn.id} was claimed with ${used} of ${cap} ${name} used`),
        );
    });
  });
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

/** The row of a settlement and its event tell the same, and so does what it used. */
export function differingSettlements(history: LedgerHistory): Violation[] {
  const events = new Map(history.events.map((event) => [event.seq, event]));
  const usage = new Map(history.usage.map((row) => [row.attemptId, row]));
  return history.settlements.flatMap((row) => {
    const told = settledSchema.safeParse(events.get(row.seq)?.data).data;
    if (told === undefined) return [violation('settlement-differs', `event ${row.seq} tells of no settlement`)];
    const used = usage.get(row.attemptId);
    const tokens = told.usage === null ? null : told.usage.inputTokens + told.usage.outputTokens;
    const same =
      told.outcome === row.outcome &&
      told.failure === row.failure &&
      (used === undefined || (used.tokens === tokens && used.costUsd === (told.usage?.costUsd ?? null)));
    return same
      ? []
      : [violation('settlement-differs', `settlement ${row.attemptId} is not what event ${row.seq} says`)];
  });
}
