import type { RequestState } from '../../model/sprint/request.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { ageOf } from '../../text/time.ts';
import { byteCount } from '../../text/byte-count.ts';
import { itemText, ownerText } from '../../view/sprint/request-text.ts';
import type { RequestView } from '../../view/sprint/request-view.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const COLOUR = {
  received: 'cyan',
  planning: 'cyan',
  planned: 'cyan',
  done: 'green',
  blocked: 'yellow',
  cancelled: 'yellow',
  refused: 'red',
} as const satisfies Record<RequestState, Parameters<Style>[0]>;

interface Shown {
  readonly now: number;
  readonly columns?: number | undefined;
  readonly style: Style;
}

/** One line for each request. */
export function renderRequests(requests: readonly RequestView[], { now, columns, style }: Shown): string[] {
  if (requests.length === 0) return ['There is no request yet. Make one: squad request "add a login form"'];
  const head = ['request', 'state', 'age', 'next', 'items', 'about'].map((title) => style('dim', title));
  const rows = requests.map(({ id, state, at, next, items, text }) => [
    id,
    style(COLOUR[state], state),
    ageOf(now - at),
    next ?? '',
    items.map((item) => item.id).join(' '),
    plainLine(text, 300),
  ]);
  return renderTable({ head, rows, columns, cut: 'last' });
}

/** Everything about one request. */
export function renderRequest(request: RequestView, { now, style }: Shown): string[] {
  const { id, state, by, at, text, answer, items, attachments, joined } = request;
  const files = attachments.map(({ name, bytes }) => `${plainLine(name, 120)} (${byteCount(bytes)})`);
  return [
    `${id} ${style(COLOUR[state], state)}, from ${plainLine(by, 80)} ${ageOf(now - at)} ago. ${ownerText(request)}`.trim(),
    ...indented(text),
    ...(files.length === 0 ? [] : [`  files: ${files.join(', ')}`]),
    ...joined.flatMap((one) => [
      `Then, from ${plainLine(one.by, 80)} ${ageOf(now - one.at)} ago:`,
      ...indented(one.text),
    ]),
    ...(answer === null ? [] : ['The planner:', ...indented(answer)]),
    ...items.map((item) => `  ${itemText(item)}`),
  ];
}

function indented(text: string): string[] {
  return plainText(text)
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}
