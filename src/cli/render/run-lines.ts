import { isTurnEvent, type RunEvent } from '../../model/run-event.ts';
import { sentenceOf, type Sentence } from '../../view/sentence.ts';
import { plainLine } from '../../text/plain-text.ts';

/** One event of a run as lines for people; undefined for what would only be noise. */
export function renderRunEvent(event: RunEvent): string | undefined {
  const line = lineOf(sentenceOf(event));
  if (line === undefined) return undefined;
  if (isTurnEvent(event)) return `  ${event.agent}/${event.task}  ${line}`;
  return event.type === 'run-started' ? [line, ...teamLines(event)].join('\n') : line;
}

/** The line of a sentence; undefined: only a board says it. */
export function lineOf(sentence: Sentence | undefined): string | undefined {
  return sentence === undefined || sentence.label === '' ? undefined : row(sentence.label, sentence.line);
}

function teamLines({ agents }: Extract<RunEvent, { type: 'run-started' }>): string[] {
  const named = ({ name, runtime, model = '' }: (typeof agents)[number]): string =>
    `${name} (${plainLine([runtime, model].join(' '), 140)})`;
  const equipped = agents.filter(({ equipment = [] }) => equipment.length > 0);
  return [
    row('squad', agents.map(named).join(', ')),
    ...equipped.map(({ name, equipment = [] }) => row('has', `${name}: ${plainLine(equipment.join(', '), 400)}`)),
  ];
}

function row(label: string, text: string): string {
  return `${label.padEnd(9)} ${text}`;
}
