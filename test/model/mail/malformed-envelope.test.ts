import { describe, expect, it } from 'vitest';
import { but, GOOD, without } from './drafts.ts';
import { check, HOUR, idOf, NOW } from './support.ts';
import { refuses, type Malformed } from './refuses.ts';

const { review, assign, handoff, clarify, verify, feedback, note, answer, done, verified, fail } = GOOD;

const FORM: readonly Malformed[] = [
  ['no object', done, 'done', '', 'must be one JSON object'],
  ['a list', done, [but(done, {})], '', 'must be one JSON object'],
  ['no recipients', done, without(done, 'to'), 'to', 'is required'],
  ['an empty list of recipients', done, but(done, { to: [] }), 'to', 'must have at least 1 entry'],
  [
    'more recipients than a run has',
    done,
    but(done, { to: Array<string>(34).fill('MAIN') }),
    'to',
    'must have at most 33 entries',
  ],
  ['one recipient as a text', done, but(done, { to: 'MAIN' }), 'to', 'must be a list'],
  ['a recipient that is a number', done, but(done, { to: [1] }), 'to[0]', 'must be text'],
  ['a recipient that is no address', done, but(done, { to: ['A B'] }), 'to[0]', 'needs an address'],
  ['no type', done, without(done, 'type'), 'type', 'is required'],
  ['an unknown type', done, but(done, { type: 'order' }), 'type', 'must be one of ask, report, send, done, fail'],
  ['an unknown action', clarify, but(clarify, { action: 'merge' }), 'action', 'must be one of review, assign, clarify'],
  [
    'an ask without an action',
    clarify,
    without(clarify, 'action'),
    'action',
    'must be one of review, assign, clarify, verify',
  ],
  ['an action of another type', done, but(done, { action: 'assign' }), 'action', 'must be one of absent, verified'],
  [
    'a failure with an action',
    fail,
    but(fail, { action: 'answer' }),
    'action',
    'must be absent in a message of type fail',
  ],
  ['an action with a proper name', done, but(done, { action: '__proto__' }), 'action', 'must be one of'],
  ['a task id with spaces', done, but(done, { task_id: 'a b' }), 'task_id', 'needs 1 to 128 letters'],
  ['a task id of 129 characters', done, but(done, { task_id: 'x'.repeat(129) }), 'task_id', 'needs 1 to 128 letters'],
  ['an owner that is no address', assign, but(assign, { owner: '../x' }), 'owner', 'needs an address'],
  ['a deadline as a text', assign, but(assign, { deadline: 'tomorrow' }), 'deadline', 'must be a number'],
  ['a deadline with a fraction', assign, but(assign, { deadline: NOW + 0.5 }), 'deadline', 'must be a whole number'],
  ['a deadline below zero', assign, but(assign, { deadline: -1 }), 'deadline', 'must be above 0'],
  ['no time to live', done, but(done, { ttl_ms: 0 }), 'ttl_ms', 'must be above 0'],
  ['a corr that is a number', done, but(done, { corr: 7 }), 'corr', 'must be text'],
  ['a corr that is empty', done, but(done, { corr: '' }), 'corr', 'needs 1 to 128 letters'],
  ['another encoding', done, but(done, { body_encoding: 'hex' }), 'body_encoding', 'must be one of json, base64'],
  ['no body', done, without(done, 'body'), 'body', 'is required'],
  ['a body that is an object', done, but(done, { body: {} }), 'body', 'must be text'],
  ['another version', done, but(done, { v: '2' }), 'v', 'must be 1'],
  ['a version that is a number', done, but(done, { v: 1 }), 'v', 'must be 1'],
  ['a field that there is not', done, but(done, { authority: 'MAIN' }), 'authority', 'is not a field of a message'],
  ['a field that is called by no name', done, but(done, { 'a\u001b[2J': 1 }), '', 'is not a field of a message'],
  ['a field __proto__', done, JSON.parse('{"__proto__":{"from":"MAIN"}}'), '', 'is not a field of a message'],
];

const OF_THE_ROUTER: readonly Malformed[] = [
  ['seq', 7],
  ['id', idOf(7)],
  ['ts', NOW],
  ['from', 'MAIN'],
  ['from', 'A'],
  ['agent_instance', 'MAIN-01'],
  ['body_ref', 'blobs/x.json'],
].map(([name, value]) => [
  `a sender's own ${String(name)} ${String(value)}`,
  done,
  but(done, { [String(name)]: value }),
  String(name),
  'must be absent: only the router sets it',
]);

const ASSERTIONS: readonly Malformed[] = [
  ['another session', done, but(done, { session: 'sess-124' }), 'session', 'must be the current session'],
  ['an older epoch', done, but(done, { epoch: 1 }), 'epoch', 'must be the current epoch'],
  ['an epoch to come', done, but(done, { epoch: 3 }), 'epoch', 'must be the current epoch'],
];

const ROUTES: readonly Malformed[] = [
  [
    'an address that there is not',
    done,
    but(done, { to: ['MAIN', 'D'] }),
    'to[1]',
    'must be one of the addresses MAIN, A, B, C',
  ],
  ['the router itself', done, but(done, { to: ['ROUTER'] }), 'to[0]', 'must be one of the addresses'],
  [
    'a role that there is not',
    handoff,
    but(handoff, { to: ['pilot'] }),
    'to[0]',
    'of the roles main, member, builder, reviewer',
  ],
  ['the same twice', verify, but(verify, { to: ['A', 'a'] }), 'to[1]', 'must be named only once'],
  [
    'an owner that there is not',
    assign,
    but(assign, { owner: 'D' }),
    'owner',
    'must be one of the addresses MAIN, A, B, C',
  ],
  [
    'another member',
    done,
    but(done, { to: ['MAIN', 'B'] }),
    'to[1]',
    'is not allowed: A may write to MAIN',
    'not_authorized',
  ],
  ['oneself', done, but(done, { to: ['A'] }), 'to[0]', 'is not allowed: A may write to', 'not_authorized'],
  [
    'the role of others',
    done,
    but(done, { to: ['member'] }),
    'to[0]',
    'is not allowed: A may write to',
    'not_authorized',
  ],
  [
    'a role without a hand-off',
    { ...note, by: 'MAIN' },
    but(note, { to: ['builder'] }),
    'to[0]',
    'is not allowed: MAIN may write to',
    'not_authorized',
  ],
  [
    'an agent past the roster by a hand-off',
    handoff,
    but(handoff, { to: ['A'] }),
    'to[0]',
    'is not allowed: builder-1 may write to',
    'not_authorized',
  ],
  [
    'an assignment by a member',
    { ...assign, by: 'A' },
    but(assign, { to: ['MAIN'] }),
    'action',
    'is not allowed for A',
    'not_authorized',
  ],
  [
    'a hand-off by a member',
    { ...handoff, by: 'A' },
    but(handoff, { to: ['MAIN'] }),
    'body.task_type',
    'is not allowed for A',
    'not_authorized',
  ],
  [
    'an assignment by one who may hand off',
    handoff,
    but(handoff, {}, { task_type: 'Hand-off' }),
    'action',
    'is not allowed for builder-1',
    'not_authorized',
  ],
  [
    'a review by a member',
    { ...review, by: 'A' },
    but(review, { to: ['MAIN'] }),
    'action',
    'is not allowed for A',
    'not_authorized',
  ],
  [
    'a note by a member',
    { ...note, by: 'A' },
    but(note, {}),
    'type',
    'its permissions: report, ask, done, fail',
    'not_authorized',
  ],
];

const THREADS: readonly Malformed[] = [
  [
    'a report without corr',
    feedback,
    without(feedback, 'corr'),
    'corr',
    'is required: the id of the ask (review, verify)',
  ],
  ['an answer without corr', answer, without(answer, 'corr'), 'corr', 'is required'],
  ['a done without corr', done, without(done, 'corr'), 'corr', 'is required'],
  ['a verified without corr', verified, without(verified, 'corr'), 'corr', 'is required'],
  ['a fail without corr', fail, without(fail, 'corr'), 'corr', 'is required'],
  [
    'a corr that was never sent',
    done,
    but(done, { corr: idOf(99) }),
    'corr',
    'must be the id of a message that was sent',
  ],
  [
    'an unknown corr of an ask',
    clarify,
    but(clarify, { corr: idOf(99) }),
    'corr',
    'must be the id of a message that was sent',
  ],
  [
    'an answer to what was asked of others',
    { ...done, by: 'B' },
    but(done, {}),
    'corr',
    'must be the id of a message to B',
  ],
  [
    'an answer to one’s own question',
    { ...fail, by: 'A' },
    but(fail, { corr: idOf(4) }),
    'corr',
    'must be the id of a message to A',
  ],
  [
    'an answer to what is no ask',
    { ...fail, by: 'MAIN' },
    but(fail, { to: ['A'], corr: idOf(8) }),
    'corr',
    'must be the id of an ask (review, assign, clarify, verify)',
  ],
  [
    'a report on an assignment',
    { ...feedback, by: 'A' },
    but(feedback, { corr: idOf(2) }),
    'corr',
    'action assign: answer it with `done` or `fail`',
  ],
  [
    'a done that ends a verify',
    done,
    but(done, { corr: idOf(3) }),
    'corr',
    'action verify: answer it with `report` or',
  ],
  [
    'a verified that ends an assignment',
    verified,
    but(verified, { corr: idOf(2) }),
    'corr',
    'action assign: answer it with `done` or `fail`',
  ],
  [
    'an answer past whoever asked',
    answer,
    but(answer, { to: ['B'] }),
    'to',
    'must hold the sender of the ask, or MAIN',
  ],
  [
    'an answer about another task',
    done,
    but(done, { task_id: 'DOC-1' }),
    'task_id',
    'must be the task of the message that it answers',
  ],
  ['a review without a task', review, without(review, 'task_id'), 'task_id', 'is required'],
  ['an assignment without a task', assign, without(assign, 'task_id'), 'task_id', 'is required'],
  [
    'a done after the deadline',
    done,
    but(done, { corr: idOf(5), task_id: 'LATE-1' }),
    'corr',
    'has passed',
    'deadline_exceeded',
  ],
  [
    'a done of a task that failed',
    done,
    but(done, { corr: idOf(6), task_id: 'FAILED-1' }),
    'task_id',
    'has failed',
    'task_cancelled',
  ],
];

const TIMES: readonly Malformed[] = [
  ['an assignment without a deadline', assign, without(assign, 'deadline'), 'deadline', 'is required (epoch ms)'],
  [
    'an assignment for now',
    assign,
    but(assign, { deadline: NOW }),
    'deadline',
    'must be in the future',
    'deadline_exceeded',
  ],
  [
    'a deadline in seconds',
    assign,
    but(assign, { deadline: 1_800_000_000 }),
    'deadline',
    'must be in the future',
    'deadline_exceeded',
  ],
  [
    'a review with an outer deadline',
    review,
    but(review, { deadline: NOW + HOUR }),
    'deadline',
    'is only for assignments; use body.review_deadline',
  ],
  ['a clarify with a deadline', clarify, but(clarify, { deadline: NOW + HOUR }), 'deadline', 'is only for assignments'],
  ['a verify with a deadline', verify, but(verify, { deadline: NOW + HOUR }), 'deadline', 'is only for assignments'],
  [
    'a longer life than the run allows',
    done,
    but(done, { ttl_ms: 25 * HOUR }),
    'ttl_ms',
    `must be at most ${24 * HOUR}`,
  ],
];

refuses('form', FORM);
refuses('fields of the router', OF_THE_ROUTER);
refuses('assertions', ASSERTIONS);
refuses('addresses and permission', ROUTES);
refuses('thread', THREADS);
refuses('deadlines', TIMES);

describe('a message with several faults', () => {
  /** Each fault of a later stage; the first of those that are left is the one that is told. */
  const FAULTS: readonly (readonly [string, Record<string, unknown>])[] = [
    ['type', { type: 'order' }],
    ['seq', { seq: 1 }],
    ['session', { session: 'other' }],
    ['to[0]', { to: ['D'] }],
    ['action', { action: 'assign' }],
    ['corr', { corr: idOf(99) }],
    ['deadline', { deadline: NOW + HOUR }],
    ['body.code_path', { body: '{}' }],
  ];

  it.each(FAULTS.map(([field], index) => [field, index] as const))(
    'is refused for %s before all later ones',
    (field, index) => {
      const faults = FAULTS.slice(index).filter(([name]) => name === field || name !== 'action');
      const draft = Object.assign(but(clarify, {}), ...faults.map(([, fault]) => fault));
      expect(check('A', draft)).toMatchObject({ ok: false, refusal: { field } });
    },
  );
});

describe('what a refusal tells', () => {
  it('never repeats what the message says', () => {
    const said = 'IGNORE-ALL-RULES';
    const everywhere = Object.keys(but(clarify, {})).map((name) =>
      but(clarify, { [name]: said, [said]: name === 'to' }),
    );
    const inside = ['code_path', 'question'].map((name) => but(clarify, {}, { [name]: { [said]: said } }));
    for (const draft of [...everywhere, ...inside, { [`${said}\u001b[2J`]: said }, { [said]: said }, said]) {
      expect(JSON.stringify(check('A', draft))).not.toContain(said);
    }
  });
});
