import { moneyText } from '../../model/amount.ts';
import { capNotes, capUseText, type CapUse } from '../cap-use.ts';
import {
  code,
  list,
  listSection,
  ownWords,
  paragraph,
  section,
  strong,
  table,
  words,
  type Section,
  type Text,
} from './document.ts';
import type { AttemptReading, RunHistory } from '../read-run.ts';
import { howEnded, returnedText } from '../sentence.ts';
import { isTurn, totalsOf } from '../usage-count.ts';
import { duration } from './report-head.ts';
import { SPENT_ON, timeSpentOf, type SpentOn } from './time-spent.ts';
import { grouped } from '../../text/counted.ts';

/** The turns of each agent and task with the sum of their reported usage, and how many did not report it. */
export function costSection({ attempts }: RunHistory): Section | undefined {
  const turns = attempts.filter(isTurn);
  const checks = attempts.filter(({ attempt }) => attempt.kind === 'check');
  const failed = checks.filter(({ settlement }) => settlement && settlement.result.outcome !== 'completed');
  return section('Turns and cost', [
    ...(turns.length === 0
      ? [paragraph(ownWords('No turn ran.'))]
      : [table(['agent', 'runtime', ...SUMS], agentRows(turns)), table(['task', ...SUMS], taskRows(turns))]),
    ...(checks.length === 0
      ? []
      : [paragraph(words`Commands that squad ran: ${checks.length}; ${failed.length} did not pass.`)]),
  ]);
}

const SUMS = ['turns', 'completed', 'tokens in', 'cached', 'tokens out', 'cost'];

function agentRows(turns: readonly AttemptReading[]): Text[][] {
  const rows = [...Map.groupBy(turns, ({ attempt }) => attempt.agent)].map(([agent, own]): Text[] => {
    const runtimes = [...new Set(own.map(({ attempt }) => attempt.runtime))];
    return [agent, runtimes.join(', '), ...sumsOf(own)];
  });
  return rows.length === 1 ? rows : [...rows, [strong('all'), '', ...sumsOf(turns)]];
}

function taskRows(turns: readonly AttemptReading[]): Text[][] {
  const tasks = Map.groupBy(turns, ({ attempt }) => attempt.taskId);
  return [...tasks].map(([task, own]) => [code(task), ...sumsOf(own)]);
}

function sumsOf(turns: readonly AttemptReading[]): Text[] {
  const completed = turns.filter(({ settlement }) => settlement?.result.outcome === 'completed');
  const { turnsClaimed, turnsSettled, unknownUsage, unknownCost, ...sums } = totalsOf(turns);
  const tokens = (of: 'inputTokens' | 'cachedInputTokens' | 'outputTokens'): string =>
    sumText(grouped(sums[of]), unknownUsage, turnsSettled);
  return [
    String(turnsClaimed),
    String(completed.length),
    tokens('inputTokens'),
    tokens('cachedInputTokens'),
    tokens('outputTokens'),
    sumText(moneyText(sums.costUsd), unknownCost, turnsSettled),
  ].map((text) => ownWords(text));
}

function sumText(sum: string, unknown: number, of: number): string {
  if (unknown === 0) return sum;
  return unknown === of ? 'unknown' : `${sum}, and ${unknown} of ${of} turns unknown`;
}

const SPENT: Readonly<Record<SpentOn, string>> = {
  agents: 'agents: at least one worked',
  checks: 'checks: verify, criteria and evidence, while no agent worked',
  setup: 'setup, while no agent worked and no check ran',
  person: 'waiting for a person',
  time: 'waiting for a time, such as the reset of a limit',
  stopped: 'stopped: no engine was at work',
  squad: 'squad itself: git, its ledger and its decisions',
};

/** The whole time by the clock, each moment once. Sums are rounded, so that whole seconds and percents add up too. */
export function timeSection(reading: RunHistory, now: number): Section | undefined {
  const spent = timeSpentOf(reading, now);
  const rows: Text[][] = [];
  let [seconds, percents, sum] = [0, 0, 0];
  for (const on of SPENT_ON) {
    sum += spent[on];
    if (spent[on] === 0 && !ALWAYS.has(on)) continue;
    const [second, percent] = [Math.round(sum / 1000), Math.round((sum * 100) / Math.max(1, spent.all))];
    const share = `${percent - percents} %`;
    rows.push([ownWords(SPENT[on]), ownWords(duration((second - seconds) * 1000)), ownWords(share)]);
    [seconds, percents] = [second, percent];
  }
  rows.push([strong(ownWords('all')), ownWords(duration(seconds * 1000)), ownWords('100 %')]);
  return section('Where the time went', [table(['by the clock, each moment once', 'time', 'share'], rows)]);
}

const ALWAYS: ReadonlySet<SpentOn> = new Set(['agents', 'checks', 'setup', 'squad']);

/** The limits that were reached or could not see all use; undefined if there are none. */
export function limitsSection(caps: readonly CapUse[]): Section | undefined {
  const lines = [
    ...caps.filter(({ reached }) => reached).map((cap) => words`${useOf(cap)} reached`),
    ...caps.flatMap((cap) => capNotes(cap).map((note) => words`${useOf(cap)}: ${note}`)),
  ];
  return listSection('Limits', lines);
}

function useOf(use: CapUse): Text {
  const { level, name } = use;
  const owner = name === null ? ownWords('The run') : [ownWords(level === 'agent' ? 'Agent ' : 'Task '), code(name)];
  return words`${owner}: ${ownWords(capUseText(use))}`;
}

/** Turns that did not complete, and work that came back to its author; review rounds have their own section. */
export function retriesSection({ attempts, returns }: RunHistory): Section | undefined {
  const turns = attempts.filter(({ attempt }) => attempt.kind === 'turn');
  const failed = turns.flatMap((turn) => failedRow(turn, turns));
  const back = returns
    .filter(({ from }) => from !== 'review' && from !== 'end')
    .map(
      ({ task, from, text }) => words`${code(task)} went back to its author (${ownWords(returnedText(from))}): ${text}`,
    );
  return section('Retries', [
    ...(failed.length === 0 ? [] : [table(['attempt', 'agent', 'ended', 'why', 'then'], failed)]),
    ...(back.length === 0 ? [] : [list(back)]),
  ]);
}

function failedRow({ attempt, settlement }: AttemptReading, turns: readonly AttemptReading[]): Text[][] {
  if (settlement === undefined || settlement.result.outcome === 'completed') return [];
  const { failure } = settlement.result;
  const next = turns.find(
    ({ attempt: other }) =>
      other.taskId === attempt.taskId && other.claimedAt >= settlement.at && other.id !== attempt.id,
  )?.attempt;
  const by = next === undefined || next.agent === attempt.agent ? [] : words` by ${next.agent}`;
  const then = next === undefined ? '' : [code(next.id), by];
  return [[code(attempt.id), attempt.agent, ownWords(howEnded(settlement.result)), failure?.message ?? '', then]];
}
