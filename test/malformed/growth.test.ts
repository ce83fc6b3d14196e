import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/text/json.ts';
import { checkPlan, planAnswerSchema } from '../../src/playbooks/delivery/plan-answer.ts';
import { readInput } from '../../src/rules/read-input.ts';
import { growth } from '../support/growth.ts';
import { play, STAGES } from './answers.ts';
import { nested } from './mutate-json.ts';
import { holdsCommand } from './readers.ts';
import { finding } from '../support/findings.ts';

const MIB = 1024 * 1024;
const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const plan = (tasks: readonly Json[]): void => {
  const answer = planAnswerSchema.parse({ summary: '', tasks });
  checkPlan(answer, ['builder']);
};
const piece = (id: string, needs: readonly string[] = []): Json => ({
  id,
  title: id,
  role: 'builder',
  needs: [...needs],
  brief: 'b',
  acceptance: ['a'],
});
const answered = (playbook: string, form: string, answer: Json): void => {
  const stage = STAGES.find((one) => one.playbook.name === playbook);
  if (stage === undefined) throw new Error(`there is no ${playbook}`);
  play(stage, form, answer);
};

/** Of so many characters, about. */
const INPUTS: Readonly<Record<string, (size: number) => void>> = {
  'a plan of many tasks': (size) => plan(list(size / 100, (index) => piece(`t-${index}`))),
  'a plan with one id for all': (size) => plan(list(size / 100, () => piece('a'))),
  'a plan of one task with many needs': (size) =>
    plan([
      piece(
        'a',
        list(size / 10, (index) => `n-${index}`),
      ),
    ]),
  'a plan with long texts': (size) => plan([piece('x'.repeat(size / 4), ['y'.repeat(size / 4)])]),
  'a review of many findings': (size) =>
    answered('delivery', 'review', {
      approved: false,
      summary: '',
      findings: list(size / 60, (index) => finding(`finding ${index}`)),
    }),
  'a command with a long text': (size) =>
    holdsCommand({ id: 1, verb: 'cancel', data: { on: 'run', why: 'x'.repeat(size) }, by: 'ada' }),
};

describe('T20: time grows with what is read, and no faster', { timeout: 180_000 }, () => {
  it.each(Object.entries(INPUTS))('T20 %s', (_name, read) => {
    read(MIB / 64);
    expect(growth(read, MIB / 2)).toBeLessThan(3);
  });
});

describe('T20: nesting as deep as a megabyte', { timeout: 300_000 }, () => {
  it('T20 an answer: it is none of the form', () => {
    const value = nested(100_000);
    expect(planAnswerSchema.safeParse({ summary: '', tasks: value }).success).toBe(false);
    for (const [playbook, form] of [
      ['delivery', 'plan'],
      ['delivery', 'review'],
    ] as const) {
      answered(playbook, form, nested(500));
    }
  });

  it('T20 a command: it is nothing', () => {
    const event = { seq: 1, stream: 'run', type: 'operator-command', at: 1, cause: null, epoch: 1 };
    const data = { id: 1, verb: 'pause', data: { on: nested(100_000) }, by: 'ada' };
    expect(readInput({ ...event, data }, {})).toEqual([]);
  });
});
