import { describe, expect, it } from 'vitest';
import { actionOf, lookAfter, NEWEST, type Action, type Key, type Look } from '../../../src/cli/board/keys.ts';

describe('what a key asks for', () => {
  it.each<[Key, Action | undefined]>([
    [{ name: 'up' }, { do: 'scroll', lines: 1 }],
    [{ name: 'j' }, { do: 'scroll', lines: -1 }],
    [{ name: 'pageup' }, { do: 'scroll-page', pages: 1 }],
    [{ name: 'home' }, { do: 'oldest' }],
    [{ name: 'tab' }, { do: 'open', step: 1 }],
    [
      { name: 'tab', shift: true },
      { do: 'open', step: -1 },
    ],
    [{ name: 'escape' }, { do: 'close' }],
    [{ name: 'p' }, { do: 'pause' }],
    [{ name: 'p', shift: true }, { do: 'pause' }],
    [{ name: 'a' }, { do: 'answer' }],
    [{ name: 'm' }, { do: 'tell' }],
    [{ name: 'd' }, { do: 'drain' }],
    [{ name: 'q' }, { do: 'quit' }],
    [
      { name: 'c', ctrl: true },
      { do: 'signal', signal: 'SIGINT' },
    ],
    [
      { name: 'z', ctrl: true },
      { do: 'signal', signal: 'SIGTSTP' },
    ],
    [{ sequence: '\u001c' }, { do: 'signal', signal: 'SIGQUIT' }],
    [{ name: 'l', ctrl: true }, { do: 'redraw' }],
    // With Control, a key is another key.
    [{ name: 'p', ctrl: true }, undefined],
    [{ name: 'c' }, undefined],
    [{ name: 'x' }, undefined],
    [{ sequence: 'é' }, undefined],
    [{ name: 'constructor' }, undefined],
    [{ name: '__proto__' }, undefined],
    [{}, undefined],
  ])('%j: %j', (key, action) => {
    expect(actionOf(key)).toEqual(action);
  });
});

describe('what is seen after a key', () => {
  const agents = ['planner', 'builder', 'reviewer'];
  const look = (open: string | undefined, scrolled: number): Look => ({ open, scrolled });

  it.each<[string, Look, Action, Look]>([
    ['scrolls back', NEWEST, { do: 'scroll', lines: 1 }, look(undefined, 1)],
    ['stops at the newest', NEWEST, { do: 'scroll', lines: -1 }, NEWEST],
    ['scrolls by what is seen', look('builder', 3), { do: 'scroll-page', pages: 1 }, look('builder', 15)],
    ['returns to the newest', look('builder', 300), { do: 'newest' }, look('builder', 0)],
    ['opens the first agent', look(undefined, 7), { do: 'open', step: 1 }, look('planner', 0)],
    ['then the next', look('planner', 7), { do: 'open', step: 1 }, look('builder', 0)],
    ['after the last comes the board', look('reviewer', 7), { do: 'open', step: 1 }, NEWEST],
    ['and before the first', look('planner', 0), { do: 'open', step: -1 }, NEWEST],
    ['from the board back to the last', NEWEST, { do: 'open', step: -1 }, look('reviewer', 0)],
    ['begins again if its agent is gone', look('gone', 2), { do: 'open', step: 1 }, look('planner', 0)],
    ['closes', look('builder', 9), { do: 'close' }, NEWEST],
    ['leaves it where the key is about the run', look('builder', 9), { do: 'pause' }, look('builder', 9)],
  ])('%s', (_, before, action, after) => {
    expect(lookAfter(before, action, agents, { page: 12, most: 100 })).toEqual(after);
  });

  it('scrolls no further back than there is something', () => {
    expect(lookAfter(NEWEST, { do: 'oldest' }, agents, { page: 12, most: 40 })).toEqual(look(undefined, 40));
    expect(lookAfter(look(undefined, 39), { do: 'scroll', lines: 5 }, agents, { page: 12, most: 40 }).scrolled).toBe(
      40,
    );
  });
});
