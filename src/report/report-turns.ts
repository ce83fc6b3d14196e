import { moneyText } from '../model/amount.ts';
import { code, inline, table } from './markdown.ts';
import type { AttemptReading, RunReading } from '../read-model/read-run.ts';
import { isTurn, totalsOf } from '../read-model/usage-count.ts';

/** What is known is added up; how much of it is unknown is said beside it. */
export function costSection({ attempts }: RunReading): string {
  const turns = attempts.filter(isTurn);
  const checks = attempts.filter(({ attempt }) => attempt.kind === 'check');
  const failed = checks.filter(
    ({ settlement }) => settlement !== undefined && settlement.result.outcome !== 'completed',
  );
  const lines = [
    ...(turns.length === 0 ? ['No turn was taken.'] : [table(HEAD, rowsOf(turns))]),
    ...(checks.length === 0
      ? []
      : [`Commands run by squad itself: ${checks.length}, of which ${failed.length} did not pass.`]),
  ];
  return ['## Turns and cost', ...lines].join('\n\n');
}

const HEAD = ['agent', 'runtime', 'turns', 'completed', 'tokens in', 'cached', 'tokens out', 'cost'];

function rowsOf(turns: readonly AttemptReading[]): string[][] {
  const byAgent = new Map<string, AttemptReading[]>();
  for (const turn of turns) {
    const known = byAgent.get(turn.attempt.agent);
    if (known === undefined) byAgent.set(turn.attempt.agent, [turn]);
    else known.push(turn);
  }
  const rows = [...byAgent].map(([agent, own]) => {
    const runtimes = [...new Set(own.map(({ attempt }) => attempt.runtime))];
    return [inline(agent), runtimes.map((runtime) => inline(runtime)).join(', '), ...sumsOf(own)];
  });
  return rows.length === 1 ? rows : [...rows, ['**all**', '', ...sumsOf(turns)]];
}

function sumsOf(turns: readonly AttemptReading[]): string[] {
  const completed = turns.filter(({ settlement }) => settlement?.result.outcome === 'completed');
  const { turnsClaimed, turnsSettled, unknownUsage, unknownCost, ...sums } = totalsOf(turns);
  const tokens = (of: 'inputTokens' | 'cachedInputTokens' | 'outputTokens'): string =>
    sumText(sums[of].toLocaleString('en-US'), unknownUsage, turnsSettled);
  return [
    String(turnsClaimed),
    String(completed.length),
    tokens('inputTokens'),
    tokens('cachedInputTokens'),
    tokens('outputTokens'),
    sumText(moneyText(sums.costUsd), unknownCost, turnsSettled),
  ];
}

function sumText(sum: string, unknown: number, of: number): string {
  if (unknown === 0) return sum;
  return unknown === of ? 'unknown' : `${sum}, and ${unknown} of ${of} turns unknown`;
}

/** Turns that did not complete, and work that came back to its author; review rounds have their own section. */
export function retriesSection({ attempts, returns }: RunReading): string | undefined {
  const turns = attempts.filter(({ attempt }) => attempt.kind === 'turn');
  const failed = turns.flatMap((turn) => failedRow(turn, turns));
  const back = returns
    .filter(({ from }) => from !== 'review' && from !== 'end')
    .map(
      ({ task, from, text }) => `- ${code(task)} went back to its author (${REASONS[from] ?? from}): ${inline(text)}`,
    );
  if (failed.length === 0 && back.length === 0) return undefined;
  return [
    '## What was tried again, and why',
    ...(failed.length === 0 ? [] : [table(['attempt', 'agent', 'ended', 'why', 'then'], failed)]),
    ...(back.length === 0 ? [] : [back.join('\n')]),
  ].join('\n\n');
}

const REASONS: Readonly<Record<string, string>> = {
  evidence: 'there was nothing to show for it',
  conflict: 'conflict with what was delivered before',
  verify: 'it fails together with the rest',
  playbook: 'opened again',
};

function failedRow({ attempt, settlement }: AttemptReading, turns: readonly AttemptReading[]): string[][] {
  if (settlement === undefined || settlement.result.outcome === 'completed') return [];
  const { outcome, failure } = settlement.result;
  const next = turns.find(
    ({ attempt: other }) =>
      other.taskId === attempt.taskId && other.claimedAt >= settlement.at && other.id !== attempt.id,
  )?.attempt;
  const then =
    next === undefined ? '' : `${code(next.id)}${next.agent === attempt.agent ? '' : ` by ${inline(next.agent)}`}`;
  return [
    [
      code(attempt.id),
      inline(attempt.agent),
      failure === undefined || failure.kind === outcome ? outcome : `${outcome} (${failure.kind})`,
      inline(failure?.message ?? ''),
      then,
    ],
  ];
}
