import { describe, expect, it } from 'vitest';
import { errorBlock } from '../../src/cli/render/error-text.ts';
import { EMPTY_BOARD } from '../../src/cli/board/board-state.ts';
import { renderFrame } from '../../src/cli/board/frame.ts';
import { takeEvent } from '../../src/cli/board/view.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { sentenceOf } from '../../src/view/sentence.ts';
import { renderLedgerEvent } from '../../src/cli/render/log-line.ts';
import { plainLine, plainText } from '../../src/text/plain-text.ts';
import { lineOf, renderRunEvent } from '../../src/cli/render/run-lines.ts';
import { plainJsonText } from '../../src/text/plain-text.ts';
import { code, heading } from '../../src/view/report/document.ts';
import { block, inline, sectionText } from '../../src/view/report/markdown.ts';
import { createRandom } from '../support/random.ts';
import { ALL } from '../support/lane.ts';

/** All that must not get out: control characters but tab and newline, formats, separators, halves of characters. */
const HIDDEN = /(?![\t\n]|(?<=[^\u0000-\u00ff])[\u200c\u200d](?=[^\u0000-\u00ff]))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const PARTS = [
  ...[
    '\u001b[31m',
    '\u001b]0;title\u0007',
    '\u001b]8;;http://evil\u001b\\',
    '\u001bP1$r\u001b\\',
    '\u009b2J',
    '\u001b[',
    '\u001b',
    '\u001bc',
  ],
  ...[
    '\r',
    '\b',
    '\0',
    '\u0007',
    '\u007f',
    '\u0085',
    '\v',
    '\f',
    '\u001b[6n',
    '\u001b[?1049h',
    '\u001b]52;c;x\u0007',
    '\u001b_x\u001b\\',
  ],
  ...[
    '\u202e',
    '\u2066',
    '\u2069',
    '\u061c',
    '\u200e',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u180e',
    '\u{e0041}',
    '\u2028',
  ],
  ...[
    '\ud800',
    '\udc00',
    'a',
    'é',
    '日',
    '😀',
    '👩\u200d💻',
    ' ',
    '\n',
    '\t',
    '`',
    '```',
    '|',
    '[x](y)',
    '<b>',
    '*',
    '#',
    '- ',
    '1. ',
    '@here',
    '\\',
  ],
];

function fuzzed(random: () => number): string {
  const length = Math.floor(random() * 12);
  const part = () => PARTS[Math.floor(random() * PARTS.length)] ?? '';
  const any = () => String.fromCharCode(Math.floor(random() * 0x3000));
  return Array.from({ length }, () => (random() < 0.2 ? any() : part())).join('');
}

/** Every way of a text from outside to a terminal or a report. */
/** A board on which all that others wrote is this text. */
function boardOf(text: string): string {
  const base = { at: 0, runId: 'r' };
  const turn = { ...base, attemptId: 'a-1', task: 'a', agent: 'ada' };
  const events: RunEvent[] = [
    {
      ...{ type: 'run-started', ...base, name: 'n', resumed: false, playbook: 'p', branch: text, base: 'c' },
      agents: [{ name: 'ada', role: 'r', runtime: 'scripted', model: text }],
    },
    { type: 'task-changed', ...base, task: 'a', title: text, role: 'r', status: 'live', round: 1 },
    { type: 'attempt-taken', ...turn, kind: 'turn', runtime: 'scripted', how: 'started' },
    { type: 'text', ...turn, text, delta: false },
    { type: 'tool-started', ...turn, id: 't', tool: text, kind: 'edit', input: { path: text } },
    { type: 'question-asked', ...base, question: text, text, options: [text], tasks: ['a'] },
  ];
  const view = { state: events.reduce(takeEvent, EMPTY_BOARD), now: 1, progress: undefined, scrolled: 0, keys: [] };
  const size = { columns: 60, rows: 20, colour: false };
  const open = text.length % 2 === 0 ? 'ada' : undefined;
  return renderFrame({ ...view, open, notice: text }, size).join('\n');
}

const renderEvent = (event: TurnEvent) => lineOf(sentenceOf(event));

const WAYS: Readonly<Record<string, (text: string) => string>> = {
  plainText,
  plainLine: (text) => plainLine(text, 40),
  errorBlock,
  inline: (text) => inline(text, 60),
  block: (text) => block(text, 80),
  code: (text) => sectionText({ title: 'x', blocks: [heading(code(text))] }),
  says: (text) => renderEvent({ at: 0, type: 'text', text, delta: false }) ?? '',
  tool: (text) =>
    renderEvent({
      at: 0,
      type: 'tool-started',
      id: text,
      tool: text,
      kind: 'execute',
      input: { text },
      server: text,
    }) ?? '',
  'tool ended': (text) =>
    renderEvent({ at: 0, type: 'tool-ended', id: text, ok: false, denied: false, output: text }) ?? '',
  files: (text) => renderEvent({ at: 0, type: 'files-changed', changes: [{ path: text, kind: 'add' }] }) ?? '',
  session: (text) =>
    renderEvent({ at: 0, type: 'session-announced', id: text, model: text, resumed: false, mcp: [] }) ?? '',
  notice: (text) => renderEvent({ at: 0, type: 'notice', text }) ?? '',
  retries: (text) => renderEvent({ at: 0, type: 'retry-scheduled', failure: 'overloaded', message: text }) ?? '',
  board: (text) => boardOf(text),
  'run line': (text) => renderRunEvent({ type: 'warning', at: 0, runId: 'r', text }) ?? '',
  'run start': (text) =>
    renderRunEvent({
      ...{ type: 'run-started', at: 0, runId: 'r', name: 'n', resumed: false, playbook: 'p', branch: 'b', base: 'c' },
      // All else is a name of squad's own, by its schema.
      agents: [{ name: 'a', role: 'r', runtime: 'scripted', model: text }],
    }) ?? '',
  log: (text) =>
    renderLedgerEvent(
      { seq: 1, at: 0, stream: 's', type: 'note', cause: null, data: { text } } as unknown as Parameters<
        typeof renderLedgerEvent
      >[0],
      's',
    ),
};

describe('S13: what is shown', () => {
  it.each(Object.entries(WAYS))('S13: %s lets no control character out of 5,000 texts', ALL, (_name, show) => {
    const random = createRandom(13);
    for (let trial = 0; trial < 5000; trial += 1) {
      const text = fuzzed(random);
      const out = show(text);
      if (HIDDEN.test(out)) expect(JSON.stringify(out), JSON.stringify(text)).toBe('');
    }
  });

  it('S13: a line of JSON hides nothing either, and says the same to a program', () => {
    const random = createRandom(14);
    for (let trial = 0; trial < 5000; trial += 1) {
      const value = { [fuzzed(random)]: [fuzzed(random)] };
      const out = plainJsonText(value);
      if (HIDDEN.test(out)) expect(JSON.stringify(out)).toBe('');
      expect(JSON.parse(out)).toEqual(value);
    }
  });

  it.each([
    ['\u009b2J', String.raw`"\u009b2J"`],
    ['\u202eevil', String.raw`"\u202eevil"`],
    ['x\u{e0041}', String.raw`"x\udb40\udc41"`],
    ['é ü 漢', '"é ü 漢"'],
  ])('S13: %j as JSON is %s', (text, json) => {
    expect(plainJsonText(text)).toBe(json);
  });

  it.each([
    ['\u202eevil', String.raw`\u202eevil`],
    ['a\u200bb', String.raw`a\u200bb`],
    ['a\u200db', String.raw`a\u200db`],
    ['x\u{e0041}', String.raw`x\u{e0041}`],
    ['a\rb', String.raw`a\u000db`],
    ['\ud800', String.raw`\ud800`],
    ['\u3164', String.raw`\u3164`],
    ['👩\u200d💻 نمی\u200cخواهم', '👩\u200d💻 نمی\u200cخواهم'],
    ['a\tb\nc', 'a\tb\nc'],
  ])('S13: %j is shown as %j', (text, shown) => {
    expect(plainText(text)).toBe(shown);
  });

  it.each([
    ['# not a heading', '\\# not a heading'],
    ['[a](javascript:x)', '\\[a\\](javascript:x)'],
    ['<img src=x>', '\\<img src=x\\>'],
    ['a | b', 'a \\| b'],
    ['1. x', '1\\. x'],
    ['`x`', '\\`x\\`'],
  ])('S13: in Markdown %j says what it says, and does nothing', (text, shown) => {
    expect(inline(text)).toBe(shown);
  });

  it('S13: a text cannot end the fence that it stands in', () => {
    for (const text of ['```', '````\n# x', '~~~', '```\n</pre>\n````````']) {
      const [fence = ''] = /^`+/.exec(block(text)) ?? [];
      expect(
        block(text)
          .slice(fence.length)
          .split('\n')
          .slice(1, -1)
          .some((line) => line.startsWith(fence)),
      ).toBe(false);
    }
  });
});
