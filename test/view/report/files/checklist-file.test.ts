import { found, quoting } from '../../../support/findings.ts';
import { expect, it } from 'vitest';
import { createBoard } from '../../../../src/rules/board.ts';
import { criteriaOf } from '../../../../src/rules/conclude.ts';
import { factsOf } from '../../../../src/rules/run-facts.ts';
import { CLOSED_GATE, type Gate } from '../../../../src/model/plan/gate.ts';
import { checklistFiles } from '../../../../src/view/report/files/checklist-file.ts';
import { BASE, definition } from '../support.ts';

function boardOf(...criteria: { text: string; command?: string }[]) {
  const about = definition({ criteria: criteria.map((one) => ({ ...one, done: true, line: 1 })) });
  return createBoard(factsOf(about));
}

function filesOf(board: ReturnType<typeof boardOf>) {
  return checklistFiles({ run: { objective: board.facts.objective.title }, plan: { criteria: criteriaOf(board) } });
}

const CRITERIA = [
  { text: 'it builds', command: 'make' },
  { text: 'it *is* tidy' },
  { text: 'it is fast' },
  { text: 'x' },
];
const QUOTE = quoting('src/a.ts', 'it is there', 3);
const GATE: Gate = {
  ...CLOSED_GATE,
  facts: {
    ...{ expected: BASE, head: BASE, missing: [] },
    looked: found([{ by: 'rex', evidence: QUOTE }]),
    commands: [{ purpose: 'criterion', run: 'make', passed: true, output: '' }],
  },
  judgement: {
    ...{ task: 'judge', commit: BASE, by: 'rex' },
    verdicts: [
      { criterion: 1, met: true, evidence: QUOTE, why: 'read it' },
      { criterion: 2, met: false, evidence: null, why: 'too slow' },
    ],
  },
};

it('ticks what a command or a judge has found at the head of the run branch, and says which', () => {
  const board = { ...boardOf(...CRITERIA), gate: GATE };
  const [file] = filesOf(board);
  expect(file?.path).toBe('checklist.md');
  expect(file?.text.split('\n').filter((line) => line.startsWith('- '))).toEqual([
    '- [x] it builds – met by squad: make: exited with 0',
    `- [x] it \\*is\\* tidy – judged by rex: src/a.ts:3 at ${BASE.slice(0, 12)} has “it is there”: read it`,
    '- [ ] it is fast – not met by rex: too slow',
    '- [ ] x – not checked',
  ]);
});

it('ticks nothing that was checked at another commit, whatever the objective’s own boxes say', () => {
  const board = { ...boardOf({ text: 'it builds', command: 'make' }), gate: { ...GATE, facts: null, judgement: null } };
  expect(filesOf(board)[0]?.text).toContain('- [ ] it builds – not checked\n');
});

it('is none without criteria', () => {
  expect(filesOf(boardOf())).toEqual([]);
});
