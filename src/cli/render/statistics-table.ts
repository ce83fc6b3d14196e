import { costText } from '../../model/amount.ts';
import type { Statistics } from '../../view/report/statistics.ts';
import { counted } from '../../text/counted.ts';
import { spanText } from '../../text/duration.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const NO_DATA = 'no data';

/** Figure, value, target and what it is computed from. `columns`: width of the terminal, if it is one. */
export function renderStatistics(
  statistics: Statistics,
  { columns, style }: { columns: number | undefined; style: Style },
): string[] {
  const { runs } = statistics;
  if (runs.all === 0) return ['There is no run here yet. Start one: squad run objective.md'];
  const rows = [
    ...completionRows(statistics, style),
    ...timeRows(statistics, style),
    ...reviewRows(statistics, style),
    ...recoveryRows(statistics, style),
    ...useRows(statistics),
  ];
  const head = ['figure', 'value', 'target', 'from'].map((name) => style('dim', name));
  return [
    `${counted(runs.all, 'run')}: ${runs.done} done, ${runs.failed} failed, ${runs.open} not over`,
    '',
    ...renderTable({ head, rows, columns }),
  ];
}

function completionRows({ completion }: Statistics, style: Style): string[][] {
  const { rate, atLeast, met, done, ended, byPlaybook } = completion;
  return [
    [
      'completed',
      valueText(shareText(rate), met, style),
      `≥ ${shareText(atLeast)}`,
      `${done} done of ${ended} that ended`,
    ],
    ...byPlaybook.map((one) => [
      `  ${plainLine(one.playbook, 40)}`,
      shareText(one.rate),
      '',
      `${one.done} done of ${one.ended} that ended`,
    ]),
  ];
}

function timeRows({ time }: Statistics, style: Style): string[][] {
  const { runs, averageMs, medianMs, averageEngineMs, belowMs, met } = time;
  const from = `average by the clock of ${counted(runs, 'run')} that ended as done`;
  return [
    ['time to completion', valueText(timeText(averageMs), met, style), `< ${timeText(belowMs)}`, from],
    ['  median', timeText(medianMs), '', 'the same runs'],
    ['  engine time', timeText(averageEngineMs), '', 'their average, without suspended time'],
  ];
}

function reviewRows({ reviews: all }: Statistics, style: Style): string[][] {
  const { average, below, met, reviews, rounds, byStage } = all;
  const from = (one: { rounds: number; reviews: number }): string =>
    `${counted(one.rounds, 'round')} in ${counted(one.reviews, 'review')}`;
  return [
    ['rounds per review', valueText(roundsText(average), met, style), `< ${below}`, from({ rounds, reviews })],
    ...byStage.map((one) => [
      `  ${plainLine(one.stage === null ? `tasks of ${one.playbook}` : `${one.stage} of ${one.playbook}`, 60)}`,
      roundsText(one.average),
      '',
      from(one),
    ]),
  ];
}

function recoveryRows({ recovery }: Statistics, style: Style): string[][] {
  const { rate, atLeast, met, recovered, interrupted } = recovery;
  const from = `${recovered} resumed to an end of ${interrupted} killed or interrupted`;
  return [['recovered', valueText(shareText(rate), met, style), shareText(atLeast), from]];
}

function useRows({ use }: Statistics): string[][] {
  const { turns, settledTurns, inputTokens, outputTokens, unknownTurns, costUsd, unknownCostTurns } = use;
  const known = (unknown: number): string =>
    `${settledTurns - unknown} of ${counted(settledTurns, 'ended turn')}; the others are unknown`;
  const from = (unknown: number): string => (unknown === 0 ? counted(settledTurns, 'ended turn') : known(unknown));
  const tokens = inputTokens === null ? unknownText(settledTurns) : `${inputTokens} in, ${outputTokens ?? 0} out`;
  const cost = costUsd === null ? unknownText(settledTurns) : costText({ costUsd, unknownCostTurns: 0 });
  return [
    ['turns', String(turns), '', 'all runs'],
    ['tokens', tokens, '', from(unknownTurns)],
    ['cost', cost, '', from(unknownCostTurns)],
  ];
}

function unknownText(turns: number): string {
  return turns === 0 ? NO_DATA : 'unknown';
}

function valueText(text: string, met: boolean | null, style: Style): string {
  return met === null ? text : style(met ? 'green' : 'red', text);
}

/** Rounded down, so that a value below its target never looks as if it reached it. */
function shareText(share: number | null): string {
  return share === null ? NO_DATA : `${Math.floor(Math.round(share * 1e6) / 1e3) / 10} %`;
}

function roundsText(rounds: number | null): string {
  return rounds === null ? NO_DATA : (Math.floor(rounds * 100) / 100).toFixed(2);
}

function timeText(ms: number | null): string {
  return ms === null ? NO_DATA : spanText(ms);
}
