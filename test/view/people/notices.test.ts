import { describe, expect, it } from 'vitest';
import type { Todo } from '../../../src/model/sprint/sprint.ts';
import type { RequestState } from '../../../src/model/sprint/request.ts';
import { noticesOf, type NoticeView } from '../../../src/view/people/notices.ts';
import type { RequestView } from '../../../src/view/sprint/request-view.ts';

const PLACE = { channel: 'chat', place: 'report-room', since: 100 };
const MESSAGE = { channel: 'chat', sender: 'u1', name: 'Ada', place: 'room', text: 'a form', attachments: [], at: 5 };
const SPRINT = '261129-Sprint-09:00';

function request(state: RequestState, more: Partial<RequestView> = {}): RequestView {
  const item = { id: 'b-form', title: 'A form', sprint: null, commit: null, why: null, requiredInputs: ['the port'] };
  return {
    ...{ id: 'r-1', text: 'a form', by: 'Ada', at: 5, state, next: null, answer: 'It is one item.', attachments: [] },
    ...{ items: [{ ...item, state: state === 'blocked' ? 'blocked' : 'pending' }], joined: [], ...more },
  };
}

function view(more: Partial<NoticeView>): NoticeView {
  const team = { sprint: new Map(), progress: new Map(), end: new Map() };
  return {
    team,
    requests: [],
    asked: [],
    questions: [],
    places: [PLACE],
    relay: new Map(),
    runName: () => 'sprint-one',
    ...more,
  };
}

function sprintView(todos: readonly Todo[], end?: { outcome: 'completed'; head: string; at: number }): NoticeView {
  const kickoff = { milestone: 'a form', text: '', items: [], attachments: [], by: 'Ada', trigger: 'person' as const };
  const progress = { state: 'running' as const, phase: 'BUILD', title: 'A login form', todos: [...todos], at: 120 };
  return view({
    team: {
      sprint: new Map([[SPRINT, { kickoff, run: 'id-1', base: 'c0', at: 110, until: null }]]),
      progress: new Map([[SPRINT, progress]]),
      end: new Map(end === undefined ? [] : [[SPRINT, end]]),
    },
  });
}

describe('what people hear of their request', () => {
  const told = (state: RequestState, more: Partial<RequestView> = {}) =>
    noticesOf(view({ requests: [request(state, more)], asked: [{ id: 'chat:7', request: 'r-1', message: MESSAGE }] }));

  it.each(['received', 'planning', 'cancelled'] as const)('is nothing while it is %s', (state) => {
    expect(told(state)).toEqual([]);
  });

  it('is its items, in the place of the message, by the planner', () => {
    expect(told('planned')).toEqual([
      {
        ...{ id: 'chat:7/planned', channel: 'chat', place: 'room', sender: 'u1' },
        text: 'r-1 is planned.\nIt is one item.\n- b-form: A form\n— planner',
      },
    ]);
  });

  it('is its end with its items, under another id for each end', () => {
    const ends = (['done', 'blocked', 'refused'] as const).map((state) => told(state)[0]);
    expect(ends.map((one) => one?.id)).toEqual(['chat:7/done', 'chat:7/blocked-0', 'chat:7/refused']);
    expect(ends[1]?.text).toContain('it needs the port');
  });

  it('is that it is blocked again once more was said', () => {
    const joined = [{ text: 'the port is 1', by: 'Ada', at: 9 }];
    expect(told('blocked', { joined })[0]?.id).toBe('chat:7/blocked-1');
  });
});

describe('what a report place hears of a sprint', () => {
  const todo: Todo = { id: 'form', item: 'b-form', title: 'A form', state: 'running' };

  it('is its start and its todos', () => {
    expect(noticesOf(sprintView([todo])).map(({ id, text }) => [id, text])).toEqual([
      [`chat/${SPRINT}/kickoff`, `The sprint ${SPRINT} begins, by Ada: a form\n— orchestrator, sprint-one`],
      [`chat/${SPRINT}/todos`, `${SPRINT} has 1 todo: A login form\n- form: A form\n— planner, sprint-one`],
    ]);
  });

  it('is each end of a todo, with what reopened it', () => {
    const done: Todo = { ...todo, state: 'committed', commit: 'abcdef0123456789', reopened: { verification: 1 } };
    const found = noticesOf(sprintView([done])).at(-1);
    expect(found).toMatchObject({
      id: `chat/${SPRINT}/form-committed`,
      text: 'form is committed, commit abcdef012345 (reopened: verification 1). A form\n— version controller, sprint-one',
    });
  });

  it('is its end, with the commands that take its work and show its report', () => {
    const found = noticesOf(
      sprintView([{ ...todo, state: 'committed' }], { outcome: 'completed', head: 'c1', at: 130 }),
    );
    expect(found.at(-1)?.text.split('\n')).toEqual([
      `The sprint ${SPRINT} is completed. 1 of 1 todo is done.`,
      '- form is committed. A form',
      'The line of work is at c1: `squad merge sprints` takes it.',
      `The report: \`squad sprint report ${SPRINT}\`.`,
      '— orchestrator, sprint-one',
    ]);
  });

  it('is what its roles handed to each other, before its end, from when the channel was there', () => {
    const relay = new Map([
      [
        SPRINT,
        [
          { id: 'relay-0', endsAt: 99, lines: ['- before'] },
          { id: 'relay-1', endsAt: 120, lines: ['- a', '- b'] },
        ],
      ],
    ]);
    const told = noticesOf({ ...sprintView([], { outcome: 'completed', head: 'c1', at: 130 }), relay });
    expect(told.map(({ id }) => id)).toEqual(['kickoff', 'relay-1', 'end'].map((what) => `chat/${SPRINT}/${what}`));
    expect(told[1]?.text).toBe(`${SPRINT}, between roles:\n- a\n- b\n— orchestrator, sprint-one`);
  });

  it('is nothing of one that was over before the channel was there', () => {
    expect(noticesOf(sprintView([todo], { outcome: 'completed', head: 'c1', at: 99 }))).toEqual([]);
  });
});

it('a question names the words that answer it', () => {
  const questions = [{ run: 'fix', id: 'plan', text: 'Is the plan right?', options: ['yes', 'no'] }];
  expect(noticesOf(view({ questions }))).toEqual([
    {
      ...{ id: 'chat/fix/question/plan', channel: 'chat', place: 'report-room' },
      text: 'fix asks: Is the plan right?\n- yes\n- no\nAnswer it here: `answer to fix: …`\n— orchestrator, fix',
    },
  ]);
});
