import { expect, it } from 'vitest';
import { judgeWords } from '../../src/view/judge-words.ts';

it.each([
  ['a judge that is called as its role', 'reviewer (reviewer): approved. It works.', 'reviewer: It works.'],
  ['another name', 'reviewer (ada): rejected. It fails.\n- A1: x', 'reviewer (ada): It fails.\n- A1: x'],
  ['a look that failed', 'qa (b): approved without looking. It works.', 'qa (b): approved without looking. It works.'],
  ['no words but the verdict', 'qa (b): approved. ', 'qa (b): approved. '],
  [
    'several judges, who may differ',
    'qa (a): approved. Good.\nqa (b): rejected. Bad.',
    'qa (a): approved. Good.\nqa (b): rejected. Bad.',
  ],
  [
    'one that is silent',
    'qa (a): approved. Good.\n\npm (b): no verdict. w',
    'qa (a): approved. Good.\n\npm (b): no verdict. w',
  ],
])('names %s once, with the verdict where nothing else has it', (_, feedback, words) => {
  expect(judgeWords(feedback)).toBe(words);
});
