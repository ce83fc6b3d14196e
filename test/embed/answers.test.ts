import { expect, it } from 'vitest';
import { readAnswers } from '../../src/embed/squad-graph.ts';

const one = [{ id: 'plan-1', text: 'Approve?', options: ['approve', 'stop'] }];
const two = [...one, { id: 'auth', text: 'Log in?', options: [] }];

it.each([
  ['approve', one, { answers: [['plan-1', 'approve']] }],
  [{ 'plan-1': 'approve' }, one, { answers: [['plan-1', 'approve']] }],
  [{ auth: 'done' }, two, { answers: [['auth', 'done']] }],
  [
    { auth: 'done', 'plan-1': 'stop' },
    two,
    {
      answers: [
        ['auth', 'done'],
        ['plan-1', 'stop'],
      ],
    },
  ],
  ['approve', two, { problem: 'There are 2 questions: answer with an object. Open: plan-1, auth.' }],
  [{}, one, { problem: 'No question was answered. Open: plan-1.' }],
  [{ other: 'x' }, one, { problem: 'other is no open question. Open: plan-1.' }],
  [{ '\u001b[2J\nx': 'x' }, one, { problem: 'x is no open question. Open: plan-1.' }],
  [true, one, { problem: 'An answer is a text, or an object with a text for each question: plan-1.' }],
  [{ 'plan-1': 1 }, one, { problem: 'An answer is a text, or an object with a text for each question: plan-1.' }],
  [undefined, one, { problem: 'An answer is a text, or an object with a text for each question: plan-1.' }],
])('reads %o as answers to open questions', (given, open, read) => {
  expect(readAnswers(given, open)).toEqual(read);
});
