import { describe, expect, it } from 'vitest';
import type { AnswerReading } from '../../../src/model/plan.ts';
import type { SprintOptions } from '../../../src/model/sprint/options.ts';
import { createSprintPlaybook } from '../../../src/playbooks/sprint/index.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { createView } from '../../../src/rules/view.ts';
import type { Json } from '../../../src/text/json.ts';
import * as says from '../../support/sprint-script.ts';
import { factsOf } from '../simulator.ts';
import { SPRINT_TEAM } from './support.ts';

const view = createView(createBoard(factsOf(SPRINT_TEAM)));

function read(form: string, answer: Json, options: Partial<SprintOptions> = {}): AnswerReading {
  const { answers = {} } = createSprintPlaybook(says.sprintOptions(options));
  return answers[form]?.read?.(view, answer, form) ?? {};
}

const ITEMS = ['b-a', 'b-b', 'b-c', 'b-d'];
const BACKLOG = [
  ...ITEMS.map((id) => says.entry(id)),
  says.entry('b-late', { state: 'carried_over' }),
  says.entry('b-stuck', { state: 'blocked' }),
  says.entry('b-done', { state: 'done' }),
];

describe('todos of a sprint', () => {
  it.each<[string, Json[]]>([
    ['as many as it may have', ITEMS.slice(0, 3).map((id) => says.todo(id))],
    ['one that an earlier sprint carried over', [says.todo('b-late')]],
    ['some that need others', [says.todo('b-b', { needs: ['b-a'] }), says.todo('b-a')]],
  ])('can be %s', (_, todos) => {
    expect(read('todos', says.todos(...todos), { backlog: BACKLOG, maxTodos: 3 })).not.toHaveProperty('problems');
  });

  it.each<[string, Json[], string]>([
    ['one more than it may have', ITEMS.map((id) => says.todo(id)), 'there are 4 todos; a sprint has at most 3'],
    ['of an item that is not there', [says.todo('b-none')], 'the backlog has no such item'],
    ['of a blocked item', [says.todo('b-stuck')], 'it is blocked; only pending items can be selected'],
    ['of an item that is done', [says.todo('b-done')], 'it is done; only pending items can be selected'],
    ['two of one item', [says.todo('b-a'), says.todo('b-a')], 'the item has a todo already'],
    ['without a brief', [says.todo('b-a', { brief: ' ' })], '`proposals.todos[0].brief` is too short'],
    ['without a title', [says.todo('b-a', { title: ' ' })], '`proposals.todos[0].title` is too short'],
    ['without a criterion', [says.todo('b-a', { acceptance: [] })], '`proposals.todos[0].acceptance` is empty'],
    [
      'with a blank criterion',
      [says.todo('b-a', { acceptance: [' '] })],
      '`proposals.todos[0].acceptance[0]` is too short',
    ],
    ['one that needs itself', [says.todo('b-a', { needs: ['b-a'] })], 'it needs itself'],
    ['one that needs no todo', [says.todo('b-a', { needs: ['b-b'] })], 'which is no todo of this sprint'],
    [
      'a circle',
      [says.todo('b-a', { needs: ['b-b'] }), says.todo('b-b', { needs: ['b-a'] })],
      'need each other in a circle: b-a, b-b',
    ],
  ])('are refused: %s', (_, todos, problem) => {
    const reading = read('todos', says.todos(...todos), { backlog: BACKLOG, maxTodos: 3 });
    expect(reading.problems?.join('\n')).toContain(problem);
    expect(Object.keys(reading)).toEqual(['problems']);
  });
});

describe('what research says', () => {
  const { proposals, ...rest } = says.RESEARCH as {
    readonly [key: string]: Json;
    readonly proposals: Record<string, Json>;
  };
  const research = (more: Record<string, Json>): Json => ({ ...rest, proposals: { ...proposals, ...more } });

  it.each<[string, Record<string, Json>, string | undefined]>([
    ['no subject, and why', { subject: null, no_subject_reason: 'all is known' }, undefined],
    ['no sources, and why', { sources: [], no_sources_reason: 'only the code' }, undefined],
    ['neither a subject nor a reason', { subject: ' ', no_subject_reason: null }, 'give a `subject`'],
    ['neither sources nor a reason', { sources: [], no_sources_reason: '' }, 'give `sources`'],
  ])('%s', (_, more, problem) => {
    const { problems } = read('research', research(more));
    if (problem === undefined) expect(problems).toBeUndefined();
    else expect(problems?.join('\n')).toContain(problem);
  });
});
