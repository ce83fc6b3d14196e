import { describe, expect, it } from 'vitest';
import { askNote } from '../../../src/cli/ask/ask-note.ts';
import type { Prompts } from '../../../src/cli/ask/prompts.ts';
import { MOST_NOTE } from '../../../src/model/plan/verbs.ts';

/** Answers prompts in this order; undefined is Ctrl-C. */
function person(...answers: readonly (string | undefined)[]): Prompts & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  return {
    asked,
    choose: async (message, choices) => {
      asked.push(message);
      const answer = left.shift();
      return choices.find(({ value }) => value === answer)?.value;
    },
    write: async (message, _, refuse) => {
      asked.push(message);
      const text = left.shift();
      const why = text === undefined ? undefined : refuse?.(text);
      if (why !== undefined) asked.push(why);
      return why === undefined ? text : undefined;
    },
  };
}

const agents = ['builder-1', 'builder-2'];
const { signal } = new AbortController();

describe('a note from the board', () => {
  it('is for the agent that a person chooses', async () => {
    const prompts = person('builder-2', 'use tabs', 'next');
    expect(await askNote(prompts, { agents, chosen: undefined, signal })).toEqual({
      ...{ verb: 'tell', agent: 'builder-2', text: 'use tabs', now: false },
    });
    expect(prompts.asked).toEqual(['A note to which agent?', 'What should builder-2 know?', 'When?']);
  });

  it('asks for no agent where one is open, or there is one', async () => {
    const note = { verb: 'tell', agent: 'builder-1', text: 'stop', now: true };
    expect(await askNote(person('stop', 'now'), { agents, chosen: 'builder-1', signal })).toEqual(note);
    expect(await askNote(person('stop', 'now'), { agents: ['builder-1'], chosen: undefined, signal })).toEqual(note);
  });

  it.each([[[undefined]], [['builder-1', undefined]], [['builder-1', 'x', undefined]]])(
    'is none after Ctrl-C: %j',
    async (answers) => {
      expect(await askNote(person(...answers), { agents, chosen: undefined, signal })).toBeUndefined();
    },
  );

  it('is refused at the prompt where it is too long', async () => {
    const prompts = person('x'.repeat(MOST_NOTE + 1));
    expect(await askNote(prompts, { agents, chosen: 'builder-1', signal })).toBeUndefined();
    expect(prompts.asked[1]).toContain(`${MOST_NOTE} characters`);
  });
});
