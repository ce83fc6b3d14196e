import { describe, expect, it } from 'vitest';
import { storedKey } from '../../src/squad/command-key.ts';
import { editToCommand, VERB_NAMES } from '../../src/studio/edit.ts';
import { keyOf } from '../../src/studio/steer.ts';

const STATE = {
  runId: 'r',
  cursor: 12,
  board: ['plan: done', 'one: live', 'a: b: waiting'],
  questions: [
    { id: 'q-1', text: 'so?', options: ['yes', 'no'] },
    { id: 'q-2', text: 'and?', options: [] },
  ],
};
const [FIRST, SECOND] = STATE.questions;
const intervene = (request: object) => ({ do: 'intervene', request });
const answer = (question: string | undefined, given: string) => ({ do: 'answer', question, answer: given });

describe('the one command that an edit means', () => {
  it.each([
    [{ verb: 'pause' }, intervene({ verb: 'pause' })],
    [{ verb: 'pause', task: 'one' }, intervene({ verb: 'pause', on: 'task/one' })],
    [{ verb: 'resume', agent: 'ada' }, intervene({ verb: 'resume', on: 'agent/ada' })],
    [{ verb: 'drain' }, intervene({ verb: 'drain' })],
    [{ verb: 'past-deadline' }, intervene({ verb: 'past-deadline' })],
    [{ verb: 'stop' }, { do: 'stop' }],
    [{ verb: 'cancel', reason: 'enough' }, intervene({ verb: 'cancel', why: 'enough' })],
    [{ verb: 'cancel', task: 'one' }, intervene({ verb: 'cancel', on: 'task/one' })],
    [
      { verb: 'retry', task: 'one', fresh: true, agent: 'ada' },
      intervene({ verb: 'retry', task: 'one', fresh: true, agent: 'ada' }),
    ],
    [{ verb: 'skip', task: 'one' }, intervene({ verb: 'skip', task: 'one' })],
    [
      { verb: 'override', task: 'one', as: 'done', reason: 'it is' },
      intervene({ verb: 'override', task: 'one', as: 'done', why: 'it is' }),
    ],
    [{ verb: 'tell', agent: 'ada', text: 'tabs' }, intervene({ verb: 'tell', agent: 'ada', text: 'tabs' })],
    [
      { verb: 'switch', agent: 'ada', runtime: 'other', model: 'm' },
      intervene({ verb: 'switch', on: 'agent/ada', runtime: 'other', model: 'm' }),
    ],
    [{ verb: 'reload' }, { do: 'reload' }],
    [{ verb: 'answer', answer: 'yes' }, answer(undefined, 'yes')],
    [{ verb: 'answer', question: 'q-1', answer: 'yes' }, answer('q-1', 'yes')],
    [
      { verb: 'answer', answer: 'yes', paths: ['src/a.ts', 'docs'] },
      { ...answer(undefined, 'yes'), paths: ['src/a.ts', 'docs'] },
    ],
    [{ verb: 'fork' }, { do: 'fork' }],
    // Small edits, of the whole state, of a channel, and of a line.
    [{ ...STATE, board: ['plan: done', 'one: skipped', 'a: b: waiting'] }, intervene({ verb: 'skip', task: 'one' })],
    [{ board: ['plan: done', 'one: live', 'a: b: skipped'] }, intervene({ verb: 'skip', task: 'a: b' })],
    [{ board: ['one: skipped'] }, intervene({ verb: 'skip', task: 'one' })],
    [{ ...STATE, questions: [{ ...FIRST, answer: 'yes' }, SECOND] }, answer('q-1', 'yes')],
    [{ questions: [{ id: 'q-2', answer: 'more' }] }, answer('q-2', 'more')],
  ])('%j', (edit, command) => {
    expect(editToCommand(STATE, edit)).toEqual({ ok: true, command, key: undefined });
  });

  it('may have a name of the client', () => {
    expect(editToCommand(STATE, { verb: 'pause', key: 'k' })).toMatchObject({ ok: true, key: 'k' });
    expect(editToCommand(STATE, { board: ['one: skipped'], key: 'k' })).toMatchObject({ ok: true, key: 'k' });
  });

  it('has a test for each verb', () => {
    expect(VERB_NAMES).toEqual([
      ...['pause', 'resume', 'drain', 'past-deadline', 'cancel', 'retry', 'skip'],
      ...['override', 'tell', 'switch', 'stop', 'reload', 'answer', 'fork'],
    ]);
  });

  it.each([
    ['text', 'object'],
    [[{ verb: 'pause' }], 'object'],
    [{ verb: 'puase' }, 'did you mean pause?'],
    [{ verb: 7 }, 'no verb 7'],
    [{ verb: 'retry' }, 'retry.task'],
    [{ verb: 'skip', task: 'one', why: 'x' }, 'skip takes `task`, `reason?`, `key?`'],
    [{ verb: 'answer', answer: 'yes', paths: 'src' }, 'answer takes `question?`, `answer`, `paths?`, `key?`'],
    [{ verb: 'stop', now: true }, 'stop takes `key?`'],
    [{ verb: 'override', task: 'one', as: 'skipped', reason: 'x' }, 'override.as'],
    [{ verb: 'pause', everything: true }, 'everything'],
    [{ verb: 'pause', task: 'one', agent: 'ada' }, 'not both'],
    [STATE, 'changes nothing'],
    [{}, 'changes nothing'],
    [{ cursor: 3 }, '`cursor` follows from'],
    [{ result: { outcome: 'done', why: 'because' } }, '`result` follows from'],
    [{ inflight: {} }, '`inflight` follows from'],
    [{ board: ['one: skipped'], questions: [] }, 'changes board, questions'],
    [{ board: ['plan: done', 'one: done', 'a: b: waiting'] }, 'of one task to skipped'],
    [{ board: ['plan: skipped', 'one: skipped', 'a: b: waiting'] }, 'of one task to skipped'],
    [{ board: ['plan: done', 'one: live'] }, 'of one task to skipped'],
    [{ board: ['two: skipped'] }, 'of one task to skipped'],
    [{ board: 'one: skipped' }, 'list of lines'],
    [{ questions: [] }, 'giving it an `answer`'],
    [
      {
        questions: [
          { ...FIRST, answer: 'yes' },
          { ...SECOND, answer: 'no' },
        ],
      },
      'giving it an `answer`',
    ],
    [{ questions: [{ id: 'q-3', answer: 'yes' }] }, 'giving it an `answer`'],
    [{ questions: [{ ...FIRST, text: 'so what?' }, SECOND] }, 'giving it an `answer`'],
    [{ questions: [{ ...FIRST, answer: '' }, SECOND] }, 'giving it an `answer`'],
    [{ questions: 'yes' }, 'list of questions'],
  ])('%j has none', (edit, why) => {
    expect(editToCommand(STATE, edit)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });
});

describe('the key of an edit', () => {
  const command = { do: 'stop' } as const;
  const edited = { runId: 'r', checkpointId: undefined, command, named: undefined };
  const aged = (seq: number, ageMs: number, key?: string) => ({ seq, ageMs, key: storedKey('r', key) });

  it('is that of the command before, if a request is sent again', () => {
    const first = keyOf(edited, []);
    expect(keyOf(edited, [])).toBe(first);
    expect(keyOf(edited, [aged(7, 500, first)])).toBe(first);
    const before = keyOf(edited, [aged(3, 1_000)]);
    expect(keyOf(edited, [aged(3, 1_500), aged(7, 500, before)])).toBe(before);
  });

  it('is a new one after a minute, after another command, and for another edit', () => {
    const first = keyOf(edited, []);
    const stored = [aged(7, 200, first)];
    expect(keyOf(edited, [aged(7, 60_000, first)])).not.toBe(first);
    expect(keyOf(edited, [...stored, aged(8, 100)])).not.toBe(first);
    expect(keyOf({ ...edited, checkpointId: 'c' }, stored)).not.toBe(first);
    expect(keyOf({ ...edited, command: { do: 'reload' } }, stored)).not.toBe(first);
  });

  it('is the client’s name, if it gives one', () => {
    const named = { ...edited, named: 'k' };
    expect(keyOf(named, [])).toBe(keyOf(named, [aged(7, 0), aged(9, 0)]));
  });
});
