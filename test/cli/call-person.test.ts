import { describe, expect, it, vi } from 'vitest';
import { callerAt, callText } from '../../src/cli/call-person.ts';
import type { Terminal } from '../../src/cli/output.ts';
import { testHost } from '../support/test-host.ts';

describe('a person is called', () => {
  it.each<[string, Record<string, string>, string]>([
    ['with the notification that most terminals know', { TERM: 'xterm-256color' }, '\u0007\u001b]9;Which one?\u0007'],
    ['by a terminal of the VTE kind', { VTE_VERSION: '7600' }, '\u0007\u001b]777;notify;squad;Which one?\u0007'],
    ['by foot', { TERM: 'foot' }, '\u0007\u001b]777;notify;squad;Which one?\u0007'],
  ])('%s', (_, environment, text) => {
    expect(callText('Which one?', environment)).toBe(text);
  });

  it('with nothing in the text that a terminal would obey', () => {
    expect(callText('a\u001b]0;title\u0007b\u0007;c\nd', {})).toBe('\u0007\u001b]9;ab\\u0007,c d\u0007');
  });

  it('at the terminal, for a question and for the end', () => {
    const written: string[] = [];
    const terminal = { write: (text: string) => void written.push(text) } as Terminal;
    const output = {
      terminal,
      line: vi.fn(),
      json: vi.fn(),
      problem: vi.fn(),
      style: vi.fn(),
      columns: vi.fn(),
      isLost: () => false,
    };
    const caller = callerAt({ output, host: testHost('/none') })!;
    caller.hear({ type: 'question-asked', at: 1, runId: 'r', question: 'q', text: 'Which?', options: [], tasks: [] });
    caller.ended({ name: 'run', headline: 'DONE', outcome: 'done' });
    expect(written).toEqual([expect.stringContaining('squad asks: Which?'), expect.stringContaining('run: DONE')]);
  });

  it('not where there is no terminal', () => {
    const output = {
      terminal: undefined,
      line: vi.fn(),
      json: vi.fn(),
      problem: vi.fn(),
      style: vi.fn(),
      columns: vi.fn(),
      isLost: () => false,
    };
    expect(callerAt({ output, host: testHost('/none') })).toBeUndefined();
  });
});
