import { describe, expect, test } from 'vitest';
import type { MailRefusal } from '../../../../src/model/mail/refusal.ts';
import type { MailParty, SendAnswer } from '../../../../src/substrate/ports/mailbox.ts';
import {
  assign,
  clarify,
  DAY,
  done,
  openMailRoom,
  person,
  POLICY,
  review,
  sent,
  turnOf,
  type MailRoom,
} from './support.ts';

function refusalOf(answered: SendAnswer): MailRefusal | undefined {
  return answered.sent ? undefined : answered.refusal;
}

function paneOf({ mail }: MailRoom, address: string): MailParty {
  return mail.bearer(mail.issuePaneToken('r', address, 'window')) ?? person('nobody');
}

/** A and B may assign tasks to each other and to testers. */
const OPEN = {
  ...POLICY,
  members: POLICY.members.map((member) =>
    member.address === 'MAIN'
      ? member
      : { ...member, verbs: [...POLICY.members[0]!.verbs], writesTo: ['MAIN', 'A', 'B', 'tester'] },
  ),
};

function foreign(task: string, may: string) {
  const instead = `To have ${task} changed, use \`send\` or \`ask\` to MAIN or to the agent that has it`;
  const rule = `${task} belongs to another agent; A may assign ${may}. ${instead}`;
  return { reason: 'not_authorized', field: 'task_id', rule };
}

describe('an agent assigns its own tasks and new ones', () => {
  const turn = turnOf('A', 'a-1');
  const OWN = 'its own task task-a-1 or a new one';
  const NEW = 'a task of its own or a new one';
  test.each<[string, string, (room: MailRoom) => MailParty, unknown]>([
    ['the task of its turn', 'task-a-1', () => turn, undefined],
    ['a new one', 'N1', () => turn, undefined],
    ['the task of a turn of another', 'task-b-1', () => turn, foreign('task-b-1', OWN)],
    ['that task, from a pane', 'task-b-1', (room) => paneOf(room, 'A'), foreign('task-b-1', NEW)],
    ['a new one, from a pane', 'N1', (room) => paneOf(room, 'A'), undefined],
    ['any task, as a person', 'task-b-1', () => person('A'), undefined],
    ['any task, as MAIN', 'task-b-1', (room) => (room.turn('m-1', 'main'), turnOf('MAIN', 'm-1')), undefined],
    [
      'one that MAIN gave to another',
      'F1',
      ({ mail, clock }) => (sent(mail.send(person('MAIN'), assign(['B'], clock.time + DAY))), turn),
      foreign('F1', OWN),
    ],
    [
      'one that MAIN gave to it and another',
      'F1',
      ({ mail, clock }) => (sent(mail.send(person('MAIN'), assign(['B', 'A'], clock.time + DAY))), turn),
      undefined,
    ],
    [
      'one that MAIN gave to its role',
      'F1',
      ({ mail, clock }) => {
        sent(mail.send(person('MAIN'), assign(['builder'], clock.time + DAY, {}, 'hand-off')));
        return turn;
      },
      undefined,
    ],
    [
      'one that it gave to another',
      'task-b-1',
      ({ mail, clock }) => {
        sent(mail.send(person('A'), assign(['B'], clock.time + DAY, { task_id: 'task-b-1' })));
        return turn;
      },
      undefined,
    ],
    [
      'one that it gives to another in this turn',
      'task-b-1',
      ({ mail, clock, ...room }) => {
        room.turn('m-1', 'main');
        sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + DAY, { task_id: 'task-b-1' })));
        room.settle('m-1');
        return turn;
      },
      undefined,
    ],
    [
      'one of another, which a turn would give to it that has not ended',
      'task-b-1',
      ({ mail, clock, ...room }) => {
        room.turn('m-1', 'main');
        sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + DAY, { task_id: 'task-b-1' })));
        return turn;
      },
      foreign('task-b-1', OWN),
    ],
    [
      'one of another, which a turn that was lost gave to it',
      'task-b-1',
      ({ mail, clock, ...room }) => {
        room.turn('m-1', 'main');
        sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + DAY, { task_id: 'task-b-1' })));
        room.settle('m-1', 'failed');
        return turn;
      },
      foreign('task-b-1', OWN),
    ],
    [
      'one of another, about which MAIN only asked it',
      'task-b-1',
      ({ mail }) => (sent(mail.send(person('MAIN'), review(['A'], { task_id: 'task-b-1' }))), turn),
      foreign('task-b-1', OWN),
    ],
  ])('%s', (_, task, partyOf, refusal) => {
    const room = openMailRoom(OPEN);
    room.turn('b-1', 'b');
    room.turn('a-1', 'a');
    const party = partyOf(room);
    const draft = assign([party.address === 'MAIN' ? 'A' : 'B'], room.clock.time + DAY, { task_id: task });
    expect(refusalOf(room.mail.send(party, draft))).toEqual(refusal);
  });

  test('a second time in one turn, and a question about the task of another', () => {
    const room = openMailRoom(OPEN);
    room.turn('b-1', 'b');
    room.turn('a-1', 'a');
    const draft = assign(['B'], room.clock.time + DAY, { task_id: 'N1' });
    expect(refusalOf(room.mail.send(turn, draft))).toBeUndefined();
    expect(refusalOf(room.mail.send(turn, draft))).toBeUndefined();
    const ask = clarify({ to: ['B'], task_id: 'task-b-1' });
    expect(refusalOf(room.mail.send(turn, ask))).toBeUndefined();
  });

  test('it depends on tasks that are there, or that the same turn has assigned', () => {
    const room = openMailRoom(OPEN);
    room.turn('a-1', 'a');
    room.turn('b-1', 'b');
    const far = room.clock.time + DAY;
    sent(room.mail.send(person('MAIN'), review(['A'], { task_id: 'DOC' })));
    const over = sent(room.mail.send(person('MAIN'), assign(['A'], far, { task_id: 'OVER' })));
    sent(room.mail.send(person('A'), done(over)));
    const failed = sent(room.mail.send(person('MAIN'), assign(['A'], far, { task_id: 'FAILED' })));
    sent(room.mail.send(person('A'), { ...done(failed), type: 'fail', body: '{"reason":"no","blocked_by":[]}' }));
    sent(room.mail.send(person('MAIN'), assign(['B'], far, { task_id: 'OPEN' })));
    sent(room.mail.send(turn, assign(['B'], far, { task_id: 'N1' })));
    const body = { task_type: 'implement', files: ['a.ts'], success_criteria: ['it works'] };
    const after = (task: string) =>
      assign(['B'], far, { task_id: 'N2', body: JSON.stringify({ ...body, dependencies: [task] }) });
    // OVER and FAILED have ended.
    const UNKNOWN = {
      reason: 'missing_dependency',
      field: 'body.dependencies[0]',
      rule: 'is an unknown task; open tasks: OPEN',
    };
    expect(refusalOf(room.mail.send(turn, after('N1')))).toBeUndefined();
    expect(refusalOf(room.mail.send(turn, after('N9')))).toEqual(UNKNOWN);
    expect(refusalOf(room.mail.send(turnOf('B', 'b-1'), { ...after('N1'), to: ['A'] }))).toEqual(UNKNOWN);
    expect(refusalOf(room.mail.send(person('B'), { ...after('N1'), to: ['A'] }))).toEqual(UNKNOWN);
    expect(refusalOf(room.mail.send(turn, after('OPEN')))).toBeUndefined();
    expect(refusalOf(room.mail.send(person('A'), after('OVER')))).toBeUndefined();
    expect(refusalOf(room.mail.send(turn, after('FAILED')))).toEqual({
      ...UNKNOWN,
      rule: 'is a task that failed; open tasks: OPEN, N2',
    });
  });
});
