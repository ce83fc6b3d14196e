import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier } from '../../src/rules/frontier.ts';
import type { TurnStart } from '../../src/rules/turn-mail.ts';
import { promptMail } from '../../src/graph/read-mail.ts';
import { renderMail } from '../../src/rules/prompts/mail-block.ts';
import { DEFAULT_PLAN_LIMITS, type Board } from '../../src/model/plan/board.ts';
import { newTask } from '../rules/support.ts';
import { note, openMailRoom, person, POLICY, sent, turnOf, type MailRoom } from '../substrate/ledger/mail/support.ts';

const LONG = 'x'.repeat(7_000);

/** Agent `a` has a task that is there for this message; and the turn that begins with it. */
function begin(id: string, name = 'a', role = 'builder'): { board: Board; start: TurnStart } {
  const facts = {
    objective: { title: '', goals: [], criteria: [], constraints: [], context: '', text: '' },
    options: null,
    roster: [{ name, role, account: 'x', commits: true }],
    runtimes: {},
    judges: ['reviewer', 'member'],
    limits: DEFAULT_PLAN_LIMITS,
    verifies: false,
    base: 'base',
  };
  const task = newTask('ordered', { agent: name, role, brief: { text: 'see your mail', mail: [id] } });
  const { board } = applyChanges(createBoard(facts), [{ do: 'add-task', task }], { seq: 1, at: 1 });
  const start = decideFrontier(board, 1).starts.find((one): one is TurnStart => one.start === 'turn');
  if (start === undefined) throw new Error('nothing starts');
  return { board, start };
}

function send({ mail }: MailRoom, text: string): string {
  const answer = mail.send(person('MAIN'), note(text, ['A']));
  if (!answer.sent) throw new Error(answer.refusal.rule);
  return answer.message.id;
}

function mailOf({ mail }: MailRoom, id: string, knows = false) {
  return promptMail(mail, { runId: 'r', ...begin(id), knows, taken: new Set() });
}

it('what a prompt has no room for stays unread when its turn is completed', () => {
  const room = openMailRoom();
  const ids = Array.from({ length: 9 }, (_, index) => send(room, `${index} ${LONG}`));
  const { messages, handed } = mailOf(room, ids[8] ?? '');
  const text = renderMail(messages, [ids[8] ?? '']);
  const shown = ids.filter((id) => text.includes(`id ${id}`));
  expect(handed.map(({ id }) => id)).toEqual(shown);
  expect(shown.length).toBeLessThan(ids.length);
  // What the task is there for is never crowded out.
  expect(shown).toContain(ids[8]);
  room.turn('t-1', 'a', handed);
  room.settle('t-1');
  const left = room.mail.inbox(person('A')).map(({ message }) => message.id);
  expect(left).toEqual(ids.filter((id) => !shown.includes(id)));
});

it('a message whose words are in the task is read like any other, named by its id or its key', () => {
  const room = openMailRoom();
  const id = send(room, 'do it');
  const says = (...names: string[]) => {
    const { board, start } = begin('none');
    const state = board.tasks.get('ordered');
    if (state === undefined) throw new Error('there is no task');
    state.task.brief.says = names;
    const { messages, handed } = promptMail(room.mail, { runId: 'r', board, start, knows: false, taken: new Set() });
    expect(handed.map((one) => one.id)).toEqual([id]);
    return messages.map(({ isInTask }) => isInTask);
  };
  expect(says()).toEqual([false]);
  expect(says('another')).toEqual([false]);
  expect(says(id)).toEqual([true]);
});

it('a task begins with the message that it is there for, also where another turn has read it', () => {
  const room = openMailRoom();
  const id = send(room, 'do it');
  room.turn('t-1', 'a');
  room.mail.accept(turnOf('A', 't-1'), [id]);
  room.settle('t-1');
  expect(mailOf(room, id)).toMatchObject({ messages: [{ id }], handed: [] });
  expect(mailOf(room, id, true)).toEqual({ messages: [], handed: [] });
});

const ONE = { role: 'builder', verbs: ['send' as const], writesTo: ['MAIN'] };

it.each([
  ['whose name is its role', 'builder', ['builder']],
  ['that is written to by its name and by its role', 'bob', ['bob', 'builder']],
])('a message is once in the prompt of an agent %s, and read then', (_title, name, to) => {
  const [main] = POLICY.members;
  if (main === undefined) throw new Error('there is no MAIN');
  const writesTo = [name, 'builder'];
  const room = openMailRoom({
    ...POLICY,
    members: [
      { ...main, writesTo },
      { ...ONE, address: name, agent: name },
    ],
  });
  const id = sent(room.mail.send(person('MAIN'), note('do it', to)));
  const { messages, handed } = promptMail(room.mail, {
    runId: 'r',
    ...begin(id, name),
    knows: false,
    taken: new Set(),
  });
  expect(messages.map(({ id: one }) => one)).toEqual([id]);
  expect(handed).toEqual(to.map((recipient) => ({ id, recipient })));
  room.turn('t-1', name, handed);
  room.settle('t-1');
  expect(room.mail.status('r').counts.unread).toBe(0);
});

it('shows the text of a base64 message, and base64 as it is where the bytes are no text', () => {
  const room = openMailRoom();
  const bytes = [Buffer.from('one\nline \u001b[31mred'), Buffer.from([0xff, 0x00, 0xfe])];
  const [id = ''] = bytes.map((body) => {
    const draft = { to: ['A'], type: 'send', body_encoding: 'base64', body: body.toString('base64') };
    const answer = room.mail.send(person('MAIN'), draft);
    if (!answer.sent) throw new Error(answer.refusal.rule);
    return answer.message.id;
  });
  const { messages } = mailOf(room, id);
  expect(messages.map(({ body }) => body)).toEqual(['one\nline red', bytes[1]?.toString('base64')]);
});
