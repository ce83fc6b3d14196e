import { describe, expect, it } from 'vitest';
import { decideCall, type Standing } from '../../src/studio/decide-call.ts';

const human = (content: unknown) => ({
  messages: [
    { type: 'ai', content: 'Hello.' },
    { role: 'user', content },
  ],
});
const call = (input: unknown) => ({ input, beyond: [], isOld: false });
const NOTHING: Standing = { run: undefined, busy: undefined };
const run = (about: Partial<NonNullable<Standing['run']>> = {}): Standing => {
  return {
    run: { name: 'fix', driven: false, isEnding: false, isOver: false, asks: false, ...about },
    busy: undefined,
  };
};

describe('what a person says in a chat', () => {
  it.each([
    ['a text', human('Fix it.'), { objective: 'Fix it.' }],
    ['blocks of text', human([{ type: 'text', text: 'Fix it.' }]), { objective: 'Fix it.' }],
    ['with a playbook', { ...human('Fix it.'), playbook: 'solo' }, { objective: 'Fix it.', playbook: 'solo' }],
  ])('starts a run: %s', (_, input, started) => {
    expect(decideCall(call(input), NOTHING)).toEqual({ do: 'start', input: started });
  });

  it.each([
    ['no message of a person', { messages: [{ type: 'ai', content: 'Hi' }] }, 'no message is from a person'],
    ['no messages', { messages: [] }, 'messages'],
    ['what is no message', { messages: [7] }, 'is no message'],
    ['an image', human([{ type: 'image_url', image_url: 'x' }]), 'image_url'],
    ['an empty text', human(' '), 'is empty'],
    ['an objective beside it', { ...human('Fix it.'), objective: 'x' }, 'an objective or messages'],
    ['neither', { playbook: 'solo' }, 'an objective or messages'],
  ])('starts nothing: %s', (_, input, said) => {
    expect(() => decideCall(call(input), NOTHING)).toThrow(said);
  });

  it('answers the open question of a run, with or without an engine', () => {
    const answers = [{ question: undefined, answer: 'Yes.' }];
    expect(decideCall(call(human('Yes.')), run({ asks: true }))).toEqual({ do: 'answer', answers, engine: true });
    const driven = decideCall(call(human('Yes.')), run({ asks: true, driven: true }));
    expect(driven).toEqual({ do: 'answer', answers, engine: false });
  });

  it('is refused where nothing is asked', () => {
    expect(() => decideCall(call(human('Faster!')), run({ driven: true }))).toThrow('has its objective');
    expect(() => decideCall(call(human('Again!')), run({ isOver: true }))).toThrow('has its objective');
  });
});
