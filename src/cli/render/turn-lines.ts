import { tokensText } from '../../model/usage.ts';
import { moneyText } from '../../model/amount.ts';
import { assertNever } from '../../model/assert-never.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';

/** One event as one line for people; undefined for what would only be noise. */
export function renderEvent(event: TurnEvent): string | undefined {
  switch (event.type) {
    case 'session-announced':
      return `session   ${plainLine(event.id)}${event.resumed ? ' (resumed)' : ''}${event.model === undefined ? '' : `, ${plainLine(event.model)}`}`;
    case 'text':
      return event.delta ? undefined : `says      ${plainLine(event.text)}`;
    case 'thinking':
      return `thinks    ${plainLine(event.text)}`;
    case 'tool-started': {
      const tool = event.server === undefined ? event.tool : `${event.server}/${event.tool}`;
      return `tool      ${plainLine(tool, 60)} ${plainLine(JSON.stringify(event.input) ?? '', 120)}`;
    }
    case 'tool-ended':
      return `tool ${event.ok ? 'ok  ' : event.denied ? 'DENY' : 'FAIL'} ${endText(event)}`;
    case 'files-changed':
      return `files     ${event.changes.map((change) => `${change.kind} ${plainLine(change.path, 120)}`).join(', ')}`;
    case 'retry-scheduled':
      return `retries   ${event.failure}: ${plainLine(event.message)}`;
    case 'notice':
      return `notice    ${plainLine(event.text)}`;
    default:
      return assertNever(event);
  }
}

function endText({ input, output = '' }: Extract<TurnEvent, { type: 'tool-ended' }>): string {
  const call = input === undefined ? '' : `${plainLine(JSON.stringify(input) ?? '', 120)} `;
  return `${call}${plainLine(output, 160)}`;
}

/** The end of a turn, for people. */
export function renderResult(result: TurnResult): string {
  const kind = result.failure?.kind;
  const lines = [
    `${result.outcome}${kind === undefined || kind === result.outcome ? '' : ` (${kind})`} after ${seconds(result.durationMs)}`,
  ];
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
