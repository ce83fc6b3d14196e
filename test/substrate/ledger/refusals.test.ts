import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { teachRowDigest } from '../../../src/substrate/ledger/index.ts';
import type { Json } from '../../../src/text/json.ts';
import { claim, decide, openBench, result, squadError, type Bench } from './support.ts';

const IDENTITY = { pid: 7, startTime: '70', bootId: 'b', marker: 'a-1' };
const CHECK = { id: 'v-1', taskId: 'v', kind: 'check', agent: 'engine', runtime: 'check', request: '{}' } as const;

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

function wrongId(id: string): [code: string, message: string, next: string] {
  return [
    'bad-input',
    `${JSON.stringify(id)} cannot name an attempt: it becomes a folder and marks processes.`,
    'Use small letters, digits and dashes, starting with a letter; dots between them.',
  ];
}

const DEEP = [
  'bad-input',
  'JSON nested more than 500 levels deep cannot be stored.',
  'Send it as a file, and store the file name.',
];
const ANOTHER_NAME = 'Use 1 to 32 small letters, digits and dashes, starting with a letter.';
const taken = (name: string) => [
  'usage',
  `There is already a run named ${name}.`,
  `Choose another name, or look at it with \`squad log ${name}\`.`,
];
const outside = (type: string) => [
  'bad-input',
  `"${type}" is not a type that may be recorded from outside.`,
  undefined,
];
const attempts = (run: string) => `See \`squad log ${run}\` for its attempts.`;

test.each<[string, (bench: Bench) => unknown, readonly (string | undefined)[]]>([
  ['an event of a type of the ledger', ({ ledger }) => ledger.append('r', 'mail-sent', 1), outside('mail-sent')],
  ['an event without a type', ({ ledger }) => ledger.append('r', '', 1), outside('')],
  ['a note of that type', ({ ledger, lease }) => ledger.note(lease, 'run-created', 1), outside('run-created')],
  ['a decision of it', (bench) => decide(bench, { do: 'record', type: 'timer-set', data: 1 }), outside('timer-set')],
  [
    'a fact of it',
    (bench) => (decide(bench, claim('a-1')), bench.ledger.observe(bench.lease, 'a-1', 'late-result', 1)),
    outside('late-result'),
  ],
  [
    'an event of no run',
    ({ ledger }) => ledger.append('x', 'poke', 1),
    ['bad-input', 'There is no run with the id x.', 'See `squad runs`.'],
  ],
  ['JSON of 501 levels', ({ ledger }) => ledger.append('r', 'poke', deep(501)), DEEP],
  [
    'a command of no run',
    ({ ledger }) => ledger.command('x', 'stop', 1, 'me'),
    ['usage', 'There is no run x.', 'See `squad runs`.'],
  ],
  [
    'a run that becomes no path',
    ({ ledger }) => ledger.createRun({ id: 'q', name: '../q' }),
    ['bad-input', '"../q" cannot name a run: it becomes a path and a git branch.', ANOTHER_NAME],
  ],
  ['a name that is taken', ({ ledger }) => ledger.createRun({ id: 'q', name: 'first' }), taken('first')],
  ['an id that is taken', ({ ledger }) => ledger.createRun({ id: 'r', name: 'other' }), taken('first')],
  ['an id that is a name', ({ ledger }) => ledger.createRun({ id: 'first', name: 'other' }), taken('first')],
  [
    'the id of the workspace',
    ({ ledger }) => ledger.createRun({ id: 'workspace', name: 'other' }),
    ['bad-input', 'A run cannot have the id "workspace".', undefined],
  ],
  [
    'an empty id',
    ({ ledger }) => ledger.createRun({ id: '', name: 'other' }),
    ['bad-input', 'A run cannot have the id "".', undefined],
  ],
  ['an attempt that marks anything', (bench) => decide(bench, claim('A')), wrongId('A')],
  [
    'a check that marks anything',
    ({ ledger, lease }) => ledger.claimCheck(lease, { ...CHECK, id: 'a..b' }),
    wrongId('a..b'),
  ],
  [
    'a check that is a turn',
    ({ ledger, lease }) => ledger.claimCheck(lease, { ...CHECK, kind: 'turn' }),
    wrongId('v-1'),
  ],
  [
    'an attempt that is not there',
    ({ ledger, lease }) => ledger.settle(lease, 'a-9', result()),
    ['unknown-attempt', 'Run r has no attempt a-9.', attempts('r')],
  ],
  [
    'an attempt of another run',
    (bench) => {
      decide(bench, claim('a-1'));
      bench.ledger.createRun({ id: 's', name: 'second' });
      return bench.ledger.settle(bench.ledger.acquireLease('s', 'x'), 'a-1', result());
    },
    ['unknown-attempt', 'Run s has no attempt a-1.', attempts('s')],
  ],
  [
    'a second process',
    (bench) => {
      decide(bench, claim('a-1'));
      bench.ledger.markSpawned(bench.lease, 'a-1', IDENTITY, 5);
      bench.ledger.markSpawned(bench.lease, 'a-1', { ...IDENTITY, pid: 8 }, 5);
    },
    ['unknown-attempt', 'Attempt a-1 does not wait for a process: it is spawned.', attempts('r')],
  ],
  [
    'a process after the end',
    (bench) => {
      decide(bench, claim('a-1'));
      bench.ledger.settle(bench.lease, 'a-1', result());
      bench.ledger.markSpawned(bench.lease, 'a-1', IDENTITY, 5);
    },
    ['unknown-attempt', 'Attempt a-1 does not wait for a process: it is settled.', attempts('r')],
  ],
  [
    'the same process after the end',
    (bench) => {
      decide(bench, claim('a-1'));
      bench.ledger.markSpawned(bench.lease, 'a-1', IDENTITY, 5);
      bench.ledger.settle(bench.lease, 'a-1', result());
      bench.ledger.markSpawned(bench.lease, 'a-1', IDENTITY, 5);
    },
    ['unknown-attempt', 'Attempt a-1 does not wait for a process: it is settled.', attempts('r')],
  ],
  [
    'a result of a fenced engine',
    (bench) => {
      decide(bench, claim('a-1'));
      bench.ledger.settle(bench.lease, 'a-1', result());
      bench.ledger.acquireLease('r', 'next');
      bench.ledger.settle(bench.lease, 'a-1', result({ text: 'other' }));
    },
    [
      'lease-fenced',
      'This process no longer drives run r. Its result of a-1 is on record, and was not applied.',
      'Look at it with `squad status r`.',
    ],
  ],
])('the ledger refuses %s', (_, act, refused) => {
  const bench = openBench();
  const { code, message, next } = squadError(() => act(bench));
  expect([code, message, next]).toEqual(refused);
  // What is refused costs no room on the disk.
  expect(statSync(join(dirname(bench.path), 'ballast')).size).toBe(4_096);
});

test('JSON of 500 levels is stored', () => {
  const { ledger } = openBench();
  const seq = ledger.append('r', 'poke', deep(500));
  expect(ledger.events({ after: seq - 1 })).toMatchObject([{ data: deep(500) }]);
});

/** Changes rows as a bad disk might, and seals them where a trigger does. */
function change({ path }: Bench, sql: string): void {
  const db = new Database(path);
  teachRowDigest(db);
  db.exec(`PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; DROP TRIGGER event_never_changes; ${sql}`);
  db.close();
}

test.each<[string, string, (bench: Bench) => unknown, string]>([
  [
    'an event',
    "UPDATE event SET type = 'x' WHERE seq = 1",
    ({ ledger }) => ledger.events({}),
    'event 1 does not match its seal.',
  ],
  [
    'a seal',
    'UPDATE event SET seal = NULL WHERE seq = 2',
    ({ ledger }) => ledger.events({}),
    'event 2 does not match its seal.',
  ],
  [
    'the text of an event',
    `UPDATE event SET data = '{' WHERE seq = 2; UPDATE event SET seal = row_digest(seq, stream, type, at, cause, epoch, data)`,
    ({ ledger }) => ledger.events({}),
    'event 2 is damaged.',
  ],
  ['a timer', "UPDATE timer SET data = '{'", ({ ledger }) => ledger.dueTimers(9_999_999), 'timer t is damaged.'],
  [
    'a timer that fires',
    "UPDATE timer SET data = '{'",
    ({ ledger, lease }) => ledger.fireTimer(lease, 't'),
    'timer t is damaged.',
  ],
  [
    'a process',
    `UPDATE attempt SET process = '{}'`,
    ({ ledger }) => ledger.attempt('a-1'),
    'process of attempt a-1 is damaged.',
  ],
  [
    'a command',
    "UPDATE operator_command SET data = '{'",
    ({ ledger }) => ledger.command('r', 'stop', 1, 'me', 'k'),
    'command 1 is damaged.',
  ],
  [
    'an answer',
    "UPDATE application SET answer = '{'",
    ({ ledger, lease }) => ledger.apply({ lease, cursor: 0, seq: 3, driver: 'd3', decisions: [] }),
    'answer 3 of run r is damaged.',
  ],
])('damage of %s is an error of whoever reads it', (_, sql, read, what) => {
  const bench = openBench();
  decide(bench, claim('a-1'), { do: 'set-timer', id: 't', dueAt: 5, data: 1 });
  bench.ledger.command('r', 'stop', 1, 'me', 'k');
  change(bench, sql);
  const { code, message } = squadError(() => read(bench));
  expect([code, message]).toEqual(['database-corrupt', `${bench.path}: ${what}`]);
});

test('each row of a run as it is stored', () => {
  const bench = openBench();
  const { ledger, lease, clock, path } = bench;
  const session = { sessionKey: 'claude:1' };
  decide(bench, claim('a-1', 'a', session), claim('a-1', 'a'), { do: 'set-timer', id: 't', dueAt: 5, data: { x: 1 } });
  ledger.claimCheck(lease, CHECK);
  ledger.claimCheck(lease, CHECK);
  clock.time += 1;
  ledger.markSpawned(lease, 'a-1', IDENTITY, 5);
  ledger.observe(lease, 'a-1', 'first-tool', 'Bash');
  const command = ledger.command('r', 'stop', { now: true }, 'me', 'k');
  expect(command).toEqual({ id: 1, runId: 'r', verb: 'stop', data: { now: true }, by: 'me', at: clock.time, seq: 10 });
  expect(ledger.command('r', 'other', 1, 'you', 'k')).toEqual(command);
  clock.time += 1;
  const fired = ledger.fireTimer(lease, 't');
  expect(ledger.fireTimer(lease, 'other')).toBeUndefined();
  const failure = { kind: 'crashed', message: 'x', mayHaveActed: true } as const;
  ledger.settle(lease, 'a-1', result({ outcome: 'failed', failure }));
  const about = { attemptId: 'a-1', taskId: 'a' };
  const turn = { ...about, kind: 'turn', agent: 'builder' };
  const seen = ledger.events({ stream: 'r', after: 3 });
  expect(fired).toBe(11);
  expect(seen.map(({ seq, type, cause, epoch, at, data }) => [seq, type, cause, epoch, at - 1_000_000, data])).toEqual([
    [4, 'attempt-claimed', 3, 1, 0, { ...turn, number: 1, runtime: 'scripted', sessionKey: 'claude:1' }],
    [5, 'claim-refused', 3, 1, 0, { ...turn, reason: 'duplicate' }],
    [6, 'timer-set', 3, 1, 0, { id: 't', dueAt: 5, data: { x: 1 } }],
    [
      ...[7, 'attempt-claimed', null, 1, 0],
      { attemptId: 'v-1', taskId: 'v', kind: 'check', agent: 'engine', number: 1, runtime: 'check', sessionKey: null },
    ],
    [8, 'attempt-spawned', null, 1, 1, { ...about, pid: 7 }],
    [9, 'first-tool', null, 1, 1, { ...about, fact: 'Bash' }],
    [10, 'operator-command', null, null, 1, { id: 1, verb: 'stop', data: { now: true }, by: 'me', key: 'k' }],
    [11, 'timer-fired', null, 1, 2, { id: 't', dueAt: 5, set: 6, data: { x: 1 } }],
    [
      12,
      'attempt-settled',
      null,
      1,
      2,
      { ...about, number: 1, kind: 'turn', outcome: 'failed', failure: 'crashed', usage: null },
    ],
  ]);
  const attempt = {
    ...{ id: 'a-1', runId: 'r', taskId: 'a', number: 1, kind: 'turn', agent: 'builder', runtime: 'scripted', epoch: 1 },
    ...{
      sessionKey: 'claude:1',
      request: '{}',
      claimedAt: 1_000_000,
      process: IDENTITY,
      spawnedAt: 5,
      status: 'settled',
    },
  };
  const check = {
    ...{ ...CHECK, runId: 'r', number: 1, epoch: 1, sessionKey: null, claimedAt: 1_000_000 },
    ...{ process: null, spawnedAt: null, status: 'claimed' },
  };
  expect(ledger.attempts({})).toEqual([attempt, check]);
  expect(ledger.attempt('v-1')).toEqual(check);
  expect(ledger.attempts({ runId: 'r', taskId: 'v' })).toEqual([check]);
  expect(ledger.attempts({ status: 'settled' })).toEqual([attempt]);
  expect([ledger.attempts({ runId: 'other' }), ledger.attempts({ taskId: 'b' })]).toEqual([[], []]);
  expect(ledger.run('r')).toEqual({
    ...{ id: 'r', name: 'first', createdAt: 1_000_000, applied: 3, driver: 'd3', parent: null },
  });
  expect([ledger.lastSeq('r'), ledger.lastSeq('other'), ledger.lastSeq()]).toEqual([12, 0, 12]);
  expect(ledger.events({ limit: 1, types: ['timer-set', 'timer-fired'] })).toMatchObject([{ seq: 6 }]);
  const db = new Database(path, { readonly: true });
  onTestFinished(() => void db.close());
  const stored = (sql: string) => db.prepare(sql).raw().all();
  expect(stored('SELECT attempt_id, seq, at, epoch, outcome, failure FROM settlement')).toEqual([
    ['a-1', 12, clock.time, 1, 'failed', 'crashed'],
  ]);
  expect(stored('SELECT run_id, cursor, seq, driver, epoch, at, answer FROM application')).toEqual([
    [
      ...['r', 0, 3, 'd3', 1, 1_000_000],
      JSON.stringify({
        applied: 3,
        claims: [
          { claimed: true, attemptId: 'a-1', number: 1 },
          { claimed: false, attemptId: 'a-1', reason: 'duplicate' },
        ],
      }),
    ],
  ]);
  expect(stored('SELECT id, run_id, seq, verb, data, operator, at FROM operator_command')).toEqual([
    [1, 'r', 10, 'stop', '{"now":true}', 'me', 1_000_001],
  ]);
  expect(stored('SELECT attempt_id, type, seq FROM observation')).toEqual([['a-1', 'first-tool', 9]]);
});

test('timers of all runs are due in the order of their time, then of their runs and names', () => {
  const bench = openBench();
  const { ledger } = bench;
  ledger.createRun({ id: 'a', name: 'second' });
  const lease = ledger.acquireLease('a', 'x');
  const timer = (id: string, dueAt: number) => ({ do: 'set-timer', id, dueAt, data: null }) as const;
  decide(bench, timer('z', 5), timer('b', 7), timer('a', 7), timer('later', 9));
  const seq = ledger.append('a', 'poke', null);
  ledger.apply({ lease, cursor: 0, seq, driver: 'd', decisions: [timer('y', 7)] });
  const due = (now: number) => ledger.dueTimers(now).map(({ runId, id, dueAt }) => `${runId} ${id} ${dueAt}`);
  expect(due(8)).toEqual(['r z 5', 'a y 7', 'r a 7', 'r b 7']);
  expect(due(5)).toEqual(['r z 5']);
  expect(due(4)).toEqual([]);
});
