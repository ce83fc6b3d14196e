import { tokensText } from '../../model/usage.ts';
import { costText } from '../../model/amount.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { localTime } from '../../text/time.ts';
import type { TurnRecord, TurnStep } from '../show/turn-record.ts';
import type { Style } from './style.ts';

interface Look {
  readonly now: number;
  readonly style: Style;
  /** Lines of the prompt to show; the rest is counted. */
  readonly promptLines: number;
}

/** One attempt: what it was asked, what its agent said and did, and how it ended. */
export function renderTurn(record: TurnRecord, look: Look): string[] {
  const { style, now } = look;
  const { attempt, agent, runtime, kind, isReview, claimedAt, prompt, result } = record;
  const what = kind === 'check' ? 'command' : isReview ? 'review' : 'turn';
  const title = `${attempt}  ${what} by ${plainLine(agent, 60)} (${plainLine(runtime, 40)}), ${localTime(claimedAt, now)}`;
  const asked = prompt === null ? ['not kept'] : textLines(prompt);
  // The part about the run is equal in all first prompts.
  const start = asked.length > look.promptLines ? asked.indexOf('</checks>') + 1 : 0;
  const shown = asked
    .slice(start)
    .filter((line, index) => index > 0 || line !== '')
    .slice(0, look.promptLines);
  const more = asked.length - shown.length;
  return [
    style('bold', title),
    ...labelled(kind === 'check' ? 'runs' : 'asked', [
      ...shown,
      ...(more > 0 ? [style('dim', `… ${more} more lines: squad show ${record.id}`)] : []),
    ]),
    ...(kind === 'check' ? [] : stepLines(record, style)),
    ...endLines(result, kind, style),
  ];
}

function stepLines({ steps, dropped, gone }: TurnRecord, style: Style): string[] {
  if (steps === null) return labelled('did', [gone ?? 'not kept']);
  const half = Math.ceil(steps.length / 2);
  const left = dropped === 0 ? [] : labelled('', [style('dim', `… ${dropped} steps are left out`)]);
  const lines = (some: readonly TurnStep[]): string[] => some.flatMap((step) => stepText(step, style));
  return [...lines(steps.slice(0, half)), ...left, ...lines(steps.slice(half))];
}

function stepText(step: TurnStep, style: Style): string[] {
  if (step.did !== 'used') {
    return step.did === 'said'
      ? labelled('says', textLines(step.text))
      : labelled('notice', [plainLine(step.text, 400)]);
  }
  const call = plainLine(`${step.tool} ${step.target}`, 300);
  switch (step.result) {
    case null:
      return labelled('open', [call]);
    case 'ok':
      return labelled('ok', [call], (text) => style('green', text));
    case 'failed':
    case 'denied': {
      const why = step.output === '' ? '' : `: ${plainLine(step.output, 400)}`;
      return labelled(step.result, [`${call}${why}`], (text) => style('red', text));
    }
  }
}

function endLines(result: TurnRecord['result'], kind: TurnRecord['kind'], style: Style): string[] {
  if (result === null) return labelled('ended', ['not yet']);
  const { outcome, text, structured, failure, usage, durationMs } = result;
  const why = failure === undefined ? '' : ` (${failure.kind}: ${plainLine(failure.message, 400)})`;
  const used =
    usage === undefined
      ? 'usage unknown'
      : `${tokensText(usage)}, ${costText({ costUsd: usage.costUsd ?? null, unknownCostTurns: 0 })}`;
  const end = `${outcome} after ${(durationMs / 1000).toFixed(1)} s${kind === 'check' ? '' : `, ${used}`}${why}`;
  return [
    ...(text.trim() === '' ? [] : labelled(kind === 'check' ? 'prints' : 'answers', textLines(text))),
    ...(structured === undefined ? [] : labelled('as data', textLines(JSON.stringify(structured, null, 2)))),
    ...labelled('ended', [end], outcome === 'completed' ? undefined : (line) => style('red', line)),
  ];
}

function textLines(text: string): string[] {
  return plainText(text).trim().split('\n');
}

const LABEL = 9;

/** The label before the first line, and the others below it. */
function labelled(label: string, lines: readonly string[], paint: (text: string) => string = (text) => text): string[] {
  return lines.map((line, index) => {
    const head = (index === 0 ? label : '').padEnd(LABEL);
    return `  ${index === 0 ? paint(head) : head} ${line}`.trimEnd();
  });
}
