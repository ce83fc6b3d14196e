import { moneyText } from '../../model/amount.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { tokensText } from '../../model/usage.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';
import { howEnded } from '../../read-model/sentence.ts';
import { turnSentence } from '../../read-model/turn-sentence.ts';
import { lineOf } from './run-lines.ts';

/** One event of a turn as one line for people. */
export function renderEvent(event: TurnEvent): string | undefined {
  return lineOf(turnSentence(event, ''));
}

/** The end of a turn, for people. */
export function renderResult(result: TurnResult): string {
  const lines = [`${howEnded(result)} after ${seconds(result.durationMs)}`];
  if (result.failure !== undefined) {
    lines.push(`  why       ${plainLine(result.failure.message, 500)}`);
    if (result.failure.setting !== undefined) lines.push(`  setting   ${plainLine(result.failure.setting)}`);
    if (result.failure.retryAt !== undefined) lines.push(`  works at  ${isoTime(result.failure.retryAt)}`);
  }
  if (result.text !== '') lines.push(`  answer    ${plainText(result.text).trim().split('\n').join('\n            ')}`);
  if (result.structured !== undefined) lines.push(`  structured ${plainLine(JSON.stringify(result.structured), 2000)}`);
  for (const denial of result.denials)
    lines.push(`  denied    ${plainLine(denial.tool)}: ${plainLine(denial.message ?? '')}`);
  lines.push(`  usage     ${renderUsage(result)}`);
  if (result.session !== undefined) lines.push(`  session   ${result.session.runtime} ${plainLine(result.session.id)}`);
  return lines.join('\n');
}

function renderUsage({ usage }: TurnResult): string {
  if (usage === undefined) return 'unknown';
  const cost = usage.costUsd === undefined ? 'cost unknown' : moneyText(usage.costUsd);
  return `${tokensText(usage)}, ${cost}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
