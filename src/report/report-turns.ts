import { moneyText } from '../model/amount.ts';
import { capNotes, capUseOf, capUseText, type CapUse } from '../read-model/cap-use.ts';
import { code, inline, listSection, table } from './markdown.ts';
import type { AttemptReading, RunHistory } from '../read-model/read-run.ts';
import { isTurn, totalsOf } from '../read-model/usage-count.ts';

/** The turns of each agent with the sum of their reported usage, and how many did not report it. */
export function costSection({ attempts }: RunHistory): string {
  const turns = attempts.filter(isTurn);
  const checks = attempts.filter(({ attempt }) => attempt.kind === 'check');
  const failed = checks.filter(({ settlement }) => settlement && settlement.result.outcome !== 'completed');
  const lines = [
    ...(turns.length === 0 ? ['No turn ran.'] : [table(HEAD, rowsOf(turns))]),
    ...(checks.length === 0 ? [] : [`Commands that squad ran: ${checks.length}; ${failed.length} did not pass.`]),
  ];
  return ['## Turns and cost', ...lines].join('\n\n');
}

const HEAD = ['agent', 'runtime', 'turns', 'completed', 'tokens in', 'cached', 'tokens out', 'cost'];

function rowsOf(turns: readonly AttemptReading[]): string[][] {
  const rows = [...new Set(turns.map(({ attempt }) => attempt.agent))].map((agent) => {
    const own = turns.filter(({ attempt }) => attempt.agent === agent);
    const runtimes = [...new Set(own.map(({ attempt }) => inline(attempt.runtime)))];
    return [inline(agent), runtimes.join(', '), ...sumsOf(own)];
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

/** The limits that were reached or could not see all use; undefined if there are none. */
export function limitsSection(reading: RunHistory): string | undefined {
  const caps = capUseOf(reading);
  const lines = [
    ...caps.filter(({ reached }) => reached).map((cap) => `${useOf(cap)} reached`),
    ...caps.flatMap((cap) => capNotes(cap).map((note) => `${useOf(cap)}: ${inline(note)}`)),
  ];
  return listSection('Limits', lines);
}

function useOf(use: CapUse): string {
  const { level, name } = use;
  const owner = name === null ? 'The run' : `${level === 'agent' ? 'Agent' : 'Task'} ${code(name)}`;
  return `${owner}: ${capUseText(use)}`;
}

/** Turns that did not complete, and work that came back to its author; review rounds have their own section. */
export function retriesSection({ attempts, returns }: RunHistory): string | undefined {
  const turns = attempts.filter(({ attempt }) => attempt.kind === 'turn');
  const failed = turns.flatMap((turn) => failedRow(turn, turns));
  const back = returns
    .filter(({ from }) => from !== 'review' && from !== 'end')
    .map(
      ({ task, from, text }) => `- ${code(task)} went back to its author (${REASONS[from] ?? from}): ${inline(text)}`,
    );
  if (failed.length === 0 && back.length === 0) return undefined;
  return [
    '## Retries',
    ...(failed.length === 0 ? [] : [table(['attempt', 'agent', 'ended', 'why', 'then'], failed)]),
    ...(back.length === 0 ? [] : [back.join('\n')]),
  ].join('\n\n');
}

const REASONS: Readonly<Record<string, string>> = {
  evidence: 'squad found no evidence of it',
  conflict: 'it conflicts with delivered work',
  verify: 'it fails together with delivered work',
  playbook: 'the playbook reopened it',
};

function failedRow({ attempt, settlement }: AttemptReading, turns: readonly AttemptReading[]): string[][] {
  if (settlement === undefined || settlement.result.outcome === 'completed') return [];
  const { outcome, failure } = settlement.result;
  const next = turns.find(
    ({ attempt: other }) =>
      other.taskId === attempt.taskId && other.claimedAt >= settlement.at && other.id !== attempt.id,
  )?.attempt;
  const by = next === undefined || next.agent === attempt.agent ? '' : ` by ${inline(next.agent)}`;
  const then = next === undefined ? '' : `${code(next.id)}${by}`;
  const how = failure === undefined || failure.kind === outcome ? outcome : `${outcome} (${failure.kind})`;
  return [[code(attempt.id), inline(attempt.agent), how, inline(failure?.message ?? ''), then]];
}
