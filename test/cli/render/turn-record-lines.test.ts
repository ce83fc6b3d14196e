import { expect, test } from 'vitest';
import { COLOURED, PLAIN } from '../../../src/cli/render/style.ts';
import { renderTurn } from '../../../src/cli/render/turn-record-lines.ts';
import { createStepList, type TurnRecord } from '../../../src/cli/show/turn-record.ts';
import type { TurnEvent } from '../../../src/model/turn-event.ts';

const EVIL = '\u001b[2Jevil\u202e';

const record: TurnRecord = {
  attempt: 'greet-1',
  id: 'run.abc.greet-1',
  task: 'greet',
  agent: 'bob',
  runtime: 'scripted',
  kind: 'turn',
  isReview: false,
  claimedAt: 0,
  prompt: 'one\ntwo\nthree',
  steps: [],
  gone: null,
  dropped: 0,
  result: {
    outcome: 'completed',
    text: 'done',
    structured: undefined,
    failure: undefined,
    usage: undefined,
    durationMs: 1_200,
  },
};

function render(more: Partial<TurnRecord>, promptLines = 99): string[] {
  return renderTurn({ ...record, ...more }, { now: 0, style: PLAIN, promptLines });
}

const used = { did: 'used', tool: 'run', target: 'npm test', result: 'ok', output: '' } as const;

test.each<[string, Partial<TurnRecord>, RegExp]>([
  ['whose turn it was', {}, /^greet-1 {2}turn by bob \(scripted\), /],
  ['a review', { isReview: true }, /^greet-1 {2}review by bob/],
  ['what was asked', {}, /\n {2}asked {5}one\n {12}two\n {12}three\n/],
  ['a prompt that is gone', { prompt: null }, /\n {2}asked {5}not kept\n/],
  ['what was said, on its lines', { steps: [{ did: 'said', text: 'a\nb' }] }, /\n {2}says {6}a\n {12}b\n/],
  ['a call that went well', { steps: [used] }, /\n {2}ok {8}run npm test\n/],
  [
    'a call that failed',
    { steps: [{ ...used, result: 'failed', output: 'no tests' }] },
    /\n {2}failed {4}run npm test: no tests\n/,
  ],
  ['a call that was denied', { steps: [{ ...used, result: 'denied' }] }, /\n {2}denied {4}run npm test\n/],
  ['a call without an end', { steps: [{ ...used, result: null }] }, /\n {2}open {6}run npm test\n/],
  ['output that is gone', { steps: null }, /\n {2}did {7}not kept\n/],
  ['steps between', { steps: [used, used], dropped: 7 }, /npm test\n +… 7 steps are left out\n {2}ok/],
  ['the last words', {}, /\n {2}answers {3}done\n {2}ended {5}completed after 1\.2 s, usage unknown$/],
  ['a live turn', { result: null }, /\n {2}ended {5}not yet$/],
  [
    'a command',
    { kind: 'check', prompt: 'npm test' },
    /^greet-1 {2}command by [^\n]+\n {2}runs {6}npm test\n {2}prints {4}done\n {2}ended {5}completed after 1\.2 s$/,
  ],
  [
    'why it failed',
    {
      result: {
        ...record.result!,
        outcome: 'failed',
        failure: { kind: 'auth', message: 'log in', mayHaveActed: false },
      },
    },
    /ended {5}failed after 1\.2 s, usage unknown \(auth: log in\)$/,
  ],
])('shows %s', (_title, more, expected) => {
  expect(render(more).join('\n')).toMatch(expected);
});

test('cuts a long prompt where it is asked to, and says how to read it', () => {
  const lines = render({}, 1).join('\n');
  expect(lines).toContain('asked     one\n            … 2 more lines: squad show run.abc.greet-1\n');
});

test('shows nothing that a terminal obeys but its own colours', () => {
  const evil = { ...used, tool: EVIL, target: EVIL, output: EVIL, result: 'failed' } as const;
  const steps = [{ did: 'said', text: EVIL }, { did: 'noted', text: EVIL }, evil] as const;
  const result = { ...record.result!, text: EVIL, structured: { [EVIL]: EVIL } };
  const hostile = { ...record, agent: EVIL, runtime: EVIL, prompt: EVIL, steps, result };
  const text = renderTurn(hostile, { now: 0, style: COLOURED, promptLines: 9 }).join('\n');
  expect(text.match(/evil/g)?.length).toBeGreaterThan(9);
  expect(text.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

function steps(events: readonly object[], answer = '') {
  const list = createStepList();
  for (const event of events) list.take({ at: 0, ...event } as TurnEvent);
  return list.end(answer);
}

test('a call gets the end with its id, and output only if it went wrong', () => {
  const start = (id: string) => ({ type: 'tool-started', id, tool: 'run', kind: 'execute', input: { command: id } });
  const end = (id: string, ok: boolean) => ({ type: 'tool-ended', id, ok, denied: false, output: `of ${id}` });
  expect(steps([start('a'), start('b'), end('b', false), end('a', true), start('c')]).steps).toEqual([
    { did: 'used', tool: 'run', target: 'a', result: 'ok', output: '' },
    { did: 'used', tool: 'run', target: 'b', result: 'failed', output: 'of b' },
    { did: 'used', tool: 'run', target: 'c', result: null, output: '' },
  ]);
});

test('the last words are told once', () => {
  const said = (text: string) => ({ type: 'text', text, delta: false });
  expect(steps([said('first'), said('done ')], 'done').steps).toEqual([{ did: 'said', text: 'first' }]);
  expect(steps([said('first')], 'done').steps).toHaveLength(1);
});

test('of very many steps the first and the last are kept', () => {
  const all = Array.from({ length: 1_000 }, (_, index) => ({ type: 'text', text: String(index), delta: false }));
  const { steps: kept, dropped } = steps(all);
  expect(kept).toHaveLength(600);
  expect(dropped).toBe(400);
  expect(kept.at(299)).toEqual({ did: 'said', text: '299' });
  expect(kept.at(300)).toEqual({ did: 'said', text: '700' });
});
