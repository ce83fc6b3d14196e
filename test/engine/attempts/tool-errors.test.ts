import { describe, expect, it } from 'vitest';
import { collectToolErrors } from '../../../src/engine/attempts/start-attempt.ts';
import type { TurnReport } from '../../../src/model/turn-event.ts';

function started(id: string, input: unknown, tool = 'shell'): TurnReport {
  return { type: 'tool-started', id, tool, kind: 'execute', input };
}

function ended(id: string, ok: boolean, output = '', denied = false): TurnReport {
  return { type: 'tool-ended', id, ok, denied, output };
}

function errorsOf(...reports: TurnReport[]) {
  const errors = collectToolErrors();
  for (const report of reports) errors.take({ at: 0, ...report });
  return errors.list();
}

describe('the tool errors of a turn', () => {
  it.each([
    ['a command', { command: 'git commit' }, 'git commit'],
    ['an argument list', { argv: ['git', 'commit'] }, 'git commit'],
    ['a file', { file_path: '/tmp/a' }, '/tmp/a'],
    ['a patch', { changes: [{ path: 'a' }, { path: 'b' }] }, 'a, b'],
    ['nothing that is known', { x: 1 }, ''],
    ['no object', 'rm', ''],
  ])('name %s', (_what, input, text) => {
    expect(errorsOf(started('1', input), ended('1', false, 'no'))).toEqual([
      { tool: 'shell', input: text, output: 'no', denied: false },
    ]);
  });

  it('are none once the same call has succeeded, and are told once however often it failed', () => {
    const call = { command: 'npm test' };
    const failing = [started('1', call), ended('1', false, 'red'), started('2', call), ended('2', false, 'still red')];
    expect(errorsOf(...failing)).toMatchObject([{ output: 'still red' }]);
    expect(errorsOf(...failing, started('3', call), ended('3', true))).toEqual([]);
    expect(errorsOf(...failing, started('3', { command: 'npm run lint' }), ended('3', true))).toHaveLength(1);
  });

  it('are the last five, shortened to their end', () => {
    const many = Array.from({ length: 9 }, (_none, index) => [
      started(String(index), { command: `${index}` }),
      ended(String(index), false, `${'x'.repeat(5_000)} end`),
    ]).flat();
    const found = errorsOf(...many);
    expect(found.map(({ input }) => input)).toEqual(['4', '5', '6', '7', '8']);
    for (const { output } of found) expect(output).toMatch(/^…x{700,}x end$/);
  });

  it('stay bounded over calls that never end, and over ends without a call', () => {
    const open = Array.from({ length: 5_000 }, (_none, index) => started(`open-${index}`, {}));
    expect(errorsOf(...open, ended('unknown', false, 'no'))).toEqual([
      { tool: 'a tool', input: '', output: 'no', denied: false },
    ]);
  });
});
