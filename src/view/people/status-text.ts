import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { statusLines, type SprintStatus } from '../sprint/status.ts';
import { itemText, ownerText } from '../sprint/request-text.ts';
import type { RequestView } from '../sprint/request-view.ts';

interface Asking {
  readonly name: string;
  readonly asks: readonly { readonly text: string }[];
}

const MOST_REQUESTS = 10;

/** How all of it stands, for a person who asked by a message. */
export function wholeStatus(status: SprintStatus, requests: readonly RequestView[], asking: readonly Asking[]): string {
  const open = requests.filter(({ next }) => next !== null);
  const left = open.length - MOST_REQUESTS;
  return [
    ...statusLines(status),
    ...(open.length === 0 ? [] : ['', `${counted(open.length, 'open request')}:`]),
    ...open.slice(-MOST_REQUESTS).map((one) => `  ${requestLine(one)}`),
    ...(left > 0 ? [`  and ${left} older ones`] : []),
    ...asking.flatMap(({ name, asks }) => asks.map(({ text }) => `${name} asks: ${plainLine(text, 500)}`)),
  ].join('\n');
}

export function sprintStatusText(status: SprintStatus): string {
  return statusLines(status).join('\n');
}

/** How one request stands, with the planner's answer. */
export function requestStatus(request: RequestView): string {
  return [
    `${request.id} is ${request.state}. ${ownerText(request)}`.trim(),
    ...(request.answer === null ? [] : [plainLine(request.answer, 1_000)]),
    ...request.items.map((item) => `  ${itemText(item)}`),
  ].join('\n');
}

function requestLine({ id, state, text }: RequestView): string {
  return `${id} ${state}: ${plainLine(text, 120)}`;
}
