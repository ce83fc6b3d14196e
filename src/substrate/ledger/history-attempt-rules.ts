import { z } from 'zod';
import { attemptOf, ofType, type LedgerHistory } from './history.ts';

const settledSchema = z.object({
  outcome: z.string(),
  failure: z.string().nullable(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number().optional() }).nullable(),
});

function settledNotOnce(history: LedgerHistory): string[] {
  const settlements = Map.groupBy(history.settlements, (row) => row.attemptId);
  const events = Map.groupBy(ofType(history, 'attempt-settled'), (event) => attemptOf(event) ?? '');
  return history.attempts.flatMap((attempt) => {
    const wanted = attempt.status === 'settled' ? 1 : 0;
    const rows = settlements.get(attempt.id)?.length ?? 0;
    const recorded = events.get(attempt.id)?.length ?? 0;
    if (rows === wanted && recorded === wanted) return [];
    return [`attempt ${attempt.id} is ${attempt.status}: ${rows} rows, ${recorded} events`];
  });
}

function settledBeforeClaim(history: LedgerHistory): string[] {
  const attempts = new Map(history.attempts.map((attempt) => [attempt.id, attempt]));
  return history.settlements.flatMap((row) => {
    const attempt = attempts.get(row.attemptId);
    if (attempt !== undefined && row.seq > attempt.claimSeq) return [];
    return [`attempt ${row.attemptId} was settled at ${row.seq}, before its claim`];
  });
}

function sessionOverlaps(history: LedgerHistory): string[] {
  const ends = new Map(history.settlements.map((row) => [row.attemptId, row.seq]));
  const bySession = Map.groupBy(history.attempts, (attempt) => attempt.sessionKey ?? '');
  bySession.delete('');
  return [...bySession].flatMap(([session, attempts]) =>
    attempts
      .toSorted((a, b) => a.claimSeq - b.claimSeq)
      .flatMap((attempt, index, ordered) => {
        const next = ordered[index + 1];
        if (next === undefined || (ends.get(attempt.id) ?? Number.POSITIVE_INFINITY) < next.claimSeq) return [];
        return [`session ${session}: ${attempt.id} was still live when ${next.id} was claimed`];
      }),
  );
}

function attemptNumbers(history: LedgerHistory): string[] {
  const byTask = Map.groupBy(history.attempts, (attempt) => `${attempt.runId} ${attempt.taskId}`);
  return [...byTask].flatMap(([task, attempts]) => {
    const numbers = attempts.toSorted((a, b) => a.claimSeq - b.claimSeq).map((attempt) => attempt.number);
    if (numbers.every((number, index) => number === index + 1)) return [];
    return [`task ${task} has the attempts ${numbers.join(', ')}`];
  });
}

/** Each turn is judged by the caps at its claim. Checks count for no cap. */
function capsExceeded(history: LedgerHistory): string[] {
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
        .map(([name, used, cap]) => `attempt ${turn.id} was claimed with ${used} of ${cap} ${name} used`);
    });
  });
}

function usageWithoutSettlement(history: LedgerHistory): string[] {
  const settled = new Set(history.settlements.map((row) => row.attemptId));
  const used = new Set(history.usage.map((row) => row.attemptId));
  const unmatched = [...settled, ...used].filter((id) => !settled.has(id) || !used.has(id));
  return unmatched.map((id) => `attempt ${id} has ${used.has(id) ? 'usage but no settlement' : 'no usage row'}`);
}

/** A late result differs from the one that counted, came after it, and is on record once. */
function lateApplied(history: LedgerHistory): string[] {
  const settled = new Map(history.settlements.map((row) => [row.attemptId, row]));
  const seen = new Set<string>();
  return history.lateResults.flatMap((late) => {
    const key = `${late.attemptId} ${late.digest}`;
    const counted = settled.get(late.attemptId);
    const wrong = counted === undefined || counted.digest === late.digest || counted.seq >= late.seq || seen.has(key);
    seen.add(key);
    return wrong ? [`late result ${late.seq} of attempt ${late.attemptId}`] : [];
  });
}

function observedTwice(history: LedgerHistory): string[] {
  const types = new Set(history.observations.map((row) => row.type));
  const facts = history.events.filter((event) => event.cause === null && types.has(event.type));
  const byFact = Map.groupBy(facts, (event) => `${event.type} of attempt ${attemptOf(event) ?? '?'}`);
  return [...byFact].flatMap(([fact, events]) =>
    events.length === 1 ? [] : [`${fact}: events ${events.map((event) => event.seq).join(', ')}`],
  );
}

/** A settlement, its event and its usage agree. */
function differingSettlements(history: LedgerHistory): string[] {
  const events = new Map(history.events.map((event) => [event.seq, event]));
  const usage = new Map(history.usage.map((row) => [row.attemptId, row]));
  return history.settlements.flatMap((row) => {
    const event = settledSchema.safeParse(events.get(row.seq)?.data).data;
    if (event === undefined) return [`event ${row.seq} is not a settlement`];
    const used = usage.get(row.attemptId);
    const tokens = event.usage === null ? null : event.usage.inputTokens + event.usage.outputTokens;
    const same =
      event.outcome === row.outcome &&
      event.failure === row.failure &&
      (used === undefined || (used.tokens === tokens && used.costUsd === (event.usage?.costUsd ?? null)));
    return same ? [] : [`settlement ${row.attemptId} differs from event ${row.seq}`];
  });
}

export const ATTEMPT_RULES = {
  'settled-not-once': settledNotOnce,
  'settled-before-claim': settledBeforeClaim,
  'session-overlap': sessionOverlaps,
  'attempt-numbers': attemptNumbers,
  'cap-exceeded': capsExceeded,
  'usage-without-settlement': usageWithoutSettlement,
  'late-applied': lateApplied,
  'observed-twice': observedTwice,
  'settlement-differs': differingSettlements,
};
