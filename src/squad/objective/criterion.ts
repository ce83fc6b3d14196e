import type { Criterion } from '../../model/objective.ts';
import type { Problem } from '../../text/problem.ts';
import { commandRefusal } from '../../model/settings-text.ts';
import type { Item } from './sections.ts';

const EXAMPLE = '- [ ] All tests pass (run: npm test)';

export type CriterionResult = { ok: true; criterion: Criterion } | { ok: false; problem: Problem };

/** Parses one success criterion: an optional checkbox, what must hold, and the command that checks it. */
export function parseCriterion(item: Item, file: string): CriterionResult {
  const refuse = (message: string, line = item.line): CriterionResult => ({
    ok: false,
    problem: { file, line, message, example: EXAMPLE },
  });
  const inside = item.nested.find(({ text }) => commandStart(text) !== undefined);
  if (inside !== undefined) {
    return refuse(
      '“(run: …)” stands inside a criterion’s own list or quote; put it on the criterion itself',
      inside.line,
    );
  }
  const box = readCheckbox(textOf(item));
  if (box === 'malformed') return refuse('a checkbox is “[ ]” or “[x]”, with a space after it');
  const commands: string[] = [];
  const parts: string[] = [];
  for (const [index, { own, text }] of item.parts.entries()) {
    const plain = index === 0 ? withoutCheckbox(text) : text;
    const found = own ? takeCommand(plain) : { text: plain };
    if ('problem' in found) return refuse(found.problem);
    parts.push(found.text);
    if (found.command !== undefined) commands.push(found.command);
  }
  if (commands.length > 1) return refuse('a criterion has one “(run: …)”; make two criteria of it');
  const text = parts.filter((part) => part !== '').join('\n');
  if (text === '') {
    return refuse(commands.length === 0 ? 'an empty criterion' : 'a criterion says in words what its command proves');
  }
  const command = commands[0] === undefined ? {} : { command: commands[0] };
  return { ok: true, criterion: { text, ...command, done: box === 'done', line: item.line } };
}

/** The text of a goal or constraint, without its checkbox. */
export function plainItem(item: Item): string {
  return withoutCheckbox(textOf(item));
}

function textOf(item: Item): string {
  return item.parts.map(({ text }) => text).join('\n');
}

function readCheckbox(text: string): 'none' | 'open' | 'done' | 'malformed' {
  const match = /^\[([ xX])\](?=\s|$)/.exec(text);
  if (match !== null) return match[1] === ' ' ? 'open' : 'done';
  // A link or a reference has more in or behind its brackets.
  return /^\[[ \t]{0,3}[xX✓✔*-]?[ \t]{0,3}\](?![([])/.test(text) ? 'malformed' : 'none';
}

function withoutCheckbox(text: string): string {
  return text.replace(/^\[[ xX]\](?=\s|$)/, '').trim();
}

type Taken = { text: string; command?: string } | { problem: string };

/** Takes `(run: <command>)` out of a line. In a code span it is ordinary text. */
function takeCommand(text: string): Taken {
  // Most likely meant as a command: reading it as text would silently leave the criterion unchecked.
  if (/`\( ?run:[^`]*\)`\.?$/i.test(text)) {
    return { problem: '“(run: …)” stands in a code span; put the backticks inside its parentheses, or leave them out' };
  }
  const start = commandStart(text);
  if (start === undefined) return { text };
  const end = commandEnd(text, start.command);
  if (end === undefined) return { problem: '“(run: …)” is not closed: a parenthesis, quote or backtick is missing' };
  const { command, after } = end;
  const rest = text.slice(after);
  if (commandStart(rest) !== undefined) return { problem: 'a criterion has one “(run: …)”; make two criteria of it' };
  const refusal = commandRefusal(command);
  if (refusal !== undefined) return { problem: refusal };
  const before = text.slice(0, start.at).trimEnd();
  const tail = rest.trim();
  return { text: tail === '' || /^[.,;:!]/.test(tail) ? before + tail : `${before} ${tail}`.trim(), command };
}

/** The first `(run:` that is not in a code span. */
function commandStart(text: string): { at: number; command: number } | undefined {
  const marks = [...text.matchAll(/`+|\( ?run:/gi)];
  const last = new Map(marks.map((mark) => [mark[0], mark.index]));
  let span = '';
  for (const { 0: mark, index } of marks) {
    if (!mark.startsWith('`')) {
      if (span === '') return { at: index, command: index + mark.length };
    } else if (mark === span) span = '';
    // Backticks without a closing run are ordinary text.
    else if (span === '' && (last.get(mark) ?? index) > index) span = mark;
  }
  return undefined;
}

/** Finds the closing parenthesis. Parentheses inside the command count, those in its quotes do not. */
function commandEnd(text: string, from: number): { command: string; after: number } | undefined {
  const start = from + text.slice(from).length - text.slice(from).trimStart().length;
  if (text[start] === '`') return spanEnd(text, start);
  let depth = 1;
  let quote = '';
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === '\\' && quote !== "'") index++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return { command: text.slice(start, index).trim(), after: index + 1 };
  }
  return undefined;
}

/** A command in a code span ends with the span. */
function spanEnd(text: string, start: number): { command: string; after: number } | undefined {
  let open = start;
  while (text[open] === '`') open++;
  const ticks = '`'.repeat(open - start);
  for (let at = text.indexOf('`', open); at >= 0; at = text.indexOf('`', at)) {
    let next = at;
    while (text[next] === '`') next++;
    if (next - at === ticks.length) {
      const close = /^ ?\)/.exec(text.slice(next, next + 2));
      return close === null ? undefined : { command: text.slice(open, at).trim(), after: next + close[0].length };
    }
    at = next;
  }
  return undefined;
}
