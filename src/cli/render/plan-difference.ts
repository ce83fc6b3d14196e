import type { PlanDifference } from '../../model/plan/asked-question.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import type { Style } from './style.ts';

/** Lines of one text that are shown on each side. */
const MOST_LINES = 6;
const MOST_DIFFERENCES = 30;

const SIGNS = { added: ['green', '+'], removed: ['red', '-'], changed: ['yellow', '~'] } as const;

/** How a plan differs from the one before: a line for each task, field or criterion, and texts of several lines by their lines. */
export function planDifferenceLines(changes: readonly PlanDifference[], style: Style): string[] {
  const left = changes.length - MOST_DIFFERENCES;
  return [
    ...changes.slice(0, MOST_DIFFERENCES).flatMap((one) => differenceLines(one, style)),
    ...(left > 0 ? [`… ${left} more`] : []),
  ];
}

function differenceLines({ change, task, field, before = '', after = '' }: PlanDifference, style: Style): string[] {
  const [color, sign] = SIGNS[change];
  const of = task === undefined ? 'criterion' : plainLine(task, 40);
  const head = (text: string): string => style(color, `${sign} ${of}${text}`);
  if (change !== 'changed') return [head(`: ${plainLine(change === 'added' ? after : before, 400)}`)];
  const name = ` ${plainLine(field ?? '', 40)}`;
  if (!before.includes('\n') && !after.includes('\n')) {
    return [head(`${name}: ${wordsOr(before)} → ${wordsOr(after)}`)];
  }
  const [old, now] = [linesOf(before), linesOf(after)];
  return [
    head(`${name}:`),
    ...someLines(old.filter((line) => !now.includes(line))).map((line) => style('red', `    - ${line}`)),
    ...someLines(now.filter((line) => !old.includes(line))).map((line) => style('green', `    + ${line}`)),
  ];
}

function wordsOr(text: string): string {
  return text === '' ? 'none' : plainLine(text, 300);
}

function linesOf(text: string): string[] {
  return plainText(text)
    .split('\n')
    .map((line) => plainLine(line, 300).trim())
    .filter((line) => line !== '');
}

function someLines(lines: readonly string[]): string[] {
  const left = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES), ...(left > 0 ? [`… ${left} more ${left === 1 ? 'line' : 'lines'}`] : [])];
}
