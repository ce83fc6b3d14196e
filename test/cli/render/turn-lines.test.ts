import { describe, expect, it } from 'vitest';
import { PLAIN } from '../../../src/cli/render/style.ts';
import { renderDoctor } from '../../../src/cli/doctor-checks.ts';
import { lineOf } from '../../../src/cli/render/run-lines.ts';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import { sentenceOf } from '../../../src/view/sentence.ts';

const EVIL = '\u001b[2J\u001b]0;x\u0007\r\b\u202e';
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
const lineFor = (report: TurnReport): string | undefined => lineOf(sentenceOf({ at: 0, ...report }));

/** One of each, with every text that an agent chooses being `text`. */
const events = (text: string): TurnReport[] => [
  { type: 'session-announced', id: text, model: text, resumed: true, mcp: [] },
  { type: 'text', text, delta: false },
  { type: 'thinking', text },
  { type: 'tool-started', id: text, tool: text, kind: 'other', input: { [text]: text }, server: text, agent: text },
  { type: 'tool-ended', id: text, ok: true, denied: false, output: text },
  { type: 'files-changed', changes: [{ path: text, kind: 'add' }] },
  { type: 'retry-scheduled', failure: 'overloaded', message: text },
  { type: 'notice', text },
];
describe('the line of a turn’s event', () => {
  it.each<[TurnReport, string | undefined]>([
    [{ type: 'session-announced', id: 's', resumed: false, mcp: [] }, 'session   s'],
    [{ type: 'session-announced', id: 's', model: 'm', resumed: true, mcp: [] }, 'session   s (resumed), m'],
    [{ type: 'text', text: 'a\nb', delta: false }, 'says      a b'],
    [{ type: 'text', text: 'a', delta: true }, undefined],
    [{ type: 'thinking', text: 'hm' }, 'thinks    hm'],
    [{ type: 'tool-started', id: '1', tool: 'run', kind: 'execute', input: ['ls'] }, 'tool      run ["ls"]'],
    [{ type: 'tool-started', id: '1', tool: 'note', kind: 'mcp', input: 1, server: 'desk' }, 'tool      desk/note 1'],
    [{ type: 'tool-started', id: '1', tool: 'run', kind: 'execute', input: undefined }, 'tool      run '],
    [{ type: 'tool-ended', id: '1', ok: true, denied: false, output: 'x' }, 'tool ok   x'],
    [{ type: 'tool-ended', id: '1', ok: false, denied: false, output: 'x' }, 'tool FAIL x'],
    [{ type: 'tool-ended', id: '1', ok: false, denied: true }, 'tool DENY '],
    [
      {
        type: 'files-changed',
        changes: [
          { path: 'a', kind: 'add' },
          { path: 'b', kind: 'delete' },
        ],
      },
      'files     add a, delete b',
    ],
    [{ type: 'retry-scheduled', failure: 'overloaded', message: '529' }, 'retries   overloaded: 529'],
    [{ type: 'notice', text: 'n' }, 'notice    n'],
  ])('%j', (report, line) => {
    expect(lineFor(report)).toBe(line);
  });

  it.each(events(EVIL))('$type shows nothing that a terminal obeys', (report) => {
    expect(lineFor(report)).not.toMatch(OBEYED);
    expect(lineFor(report)).not.toContain('\n');
  });

  it.each(events('x'.repeat(100_000)))('$type stays short', (report) => {
    expect(lineFor(report)?.length).toBeLessThan(500);
  });
});

const PLAIN_SCREEN = { columns: () => undefined, style: PLAIN };

describe('renderDoctor', () => {
  it('has a line a check and what to do below it', () => {
    const checks = [
      { name: 'git', ok: true, found: '2.50', problems: [] },
      { name: 'claude', ok: false, found: 'not found', problems: [{ text: 'it is missing', next: 'install it' }] },
    ];
    expect(renderDoctor(checks, PLAIN_SCREEN).split('\n')).toEqual([
      'ok    git     2.50',
      'FIX   claude  not found',
      '      it is missing',
      '      → install it',
    ]);
  });

  it('says once that a program is missing', () => {
    const problems = [{ text: 'gemini was not found', next: 'install it' }];
    const checks = [{ name: 'acp/gemini', ok: false, found: 'not found', problems }];
    expect(renderDoctor(checks, PLAIN_SCREEN).split('\n')).toEqual([
      'FIX   acp/gemini  not found',
      '      → install it',
    ]);
  });

  it('shows nothing that a terminal obeys', () => {
    const problems = [{ text: EVIL, next: EVIL }];
    expect(renderDoctor([{ name: 'git', ok: true, found: EVIL, problems }], PLAIN_SCREEN)).not.toMatch(OBEYED);
  });
});
