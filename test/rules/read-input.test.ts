import { describe, expect, it } from 'vitest';
import { interventionOf, isInput, readInput, type MailReading, type SettledTurn } from '../../src/rules/read-input.ts';
import type { Json } from '../../src/text/json.ts';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import type { MailMessage } from '../../src/model/mail/envelope.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';

function event(type: string, data: Json = {}, cause: number | null = null): LedgerEvent {
  return { seq: 7, stream: 'run', type, at: 1_000, cause, epoch: 1, data };
}

describe('what somebody has to decide on', () => {
  it.each([
    ['the settlement of a turn', event('attempt-settled', { kind: 'turn' }), true],
    ['the settlement of a check, which is part of an operation', event('attempt-settled', { kind: 'check' }), false],
    ['the result of an operation', event('work-observed'), true],
    ['a timer', event('timer-fired', { id: 'x' }), true],
    ['an operator', event('operator-command'), true],
    ['mail', event('mail-sent', { held: null }), true],
    ['mail that waits for the end of its turn', event('mail-sent', { held: 'a-1' }), false],
    ['mail of which nothing is known', event('mail-sent'), false],
    ['an answer that is late', event('mail-overdue'), true],
    ['an assignment that is late', event('mail-task-overdue'), true],
    ['the check of the run branch', event('gate-checked'), true],
    ['the check of the base', event('baseline-checked'), true],
    ['a branch that was put back', event('branch-restored'), true],
    ['the folder of the run', event('workspace-allocated'), true],
    ['a wake', event('run-woken'), true],
    ['a clock that was set back', event('clock-set-back'), true],
    ['a settlement that is no object', event('attempt-settled', 'turn'), false],
    ['a resume', event('run-resumed'), true],
    ['a decision of the same type', event('work-observed', {}, 3), false],
    ['a lease', event('lease-acquired'), false],
    ['a spawn', event('attempt-spawned'), false],
    ['a late result', event('late-result'), false],
    ['an observed fact', event('first-tool'), false],
  ])('%s', (_what, one, expected) => expect(isInput(one)).toBe(expected));
});

const RESULT: TurnResult = {
  outcome: 'completed',
  text: 'x'.repeat(9_999),
  denials: [],
  stderrTail: '',
  durationMs: 5,
};
const TURN: SettledTurn = { attempt: 'a-1', task: 'a', result: RESULT, mail: [], awaits: [] };
const SETTLED = event('attempt-settled', { attemptId: 'r.1.a-1', kind: 'turn' });

describe('a settlement', () => {
  it('is work of its task, with what the plan needs of it and no more', () => {
    expect(readInput(SETTLED, { turn: TURN })).toEqual([
      {
        seq: 7,
        at: 1_000,
        task: 'a',
        work: { type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: 'x'.repeat(500) },
      },
    ]);
  });

  it('keeps the structured answer and the failure', () => {
    const failure = { kind: 'network', message: 'm'.repeat(5_000), mayHaveActed: true } as const;
    const result: TurnResult = { ...RESULT, outcome: 'failed', failure, structured: { a: 1 } };
    const [input] = readInput(SETTLED, { turn: { ...TURN, result } });
    expect(input).toMatchObject({
      work: { output: { a: 1 }, failure: { kind: 'network', message: 'm'.repeat(2_000) } },
    });
  });

  it('of something else than a turn is nothing', () => expect(readInput(SETTLED, {})).toEqual([]));
});

describe('records of others', () => {
  const wish = (intervention: object, by = 'ada') => ({ event: { type: 'intervention', intervention, by } });
  const timer = { event: { type: 'timer', id: 'engine/retry/a' } };
  const answer = { event: { type: 'answer', question: 'q', answer: 'yes', by: 'ada' } };
  it.each([
    ['timer-fired', { id: 'engine/retry/a' }, [timer]],
    ['timer-fired', { name: 'x' }, []],
    ['operator-command', { id: 1, verb: 'answer', by: 'ada', data: { question: 'q', answer: 'yes' } }, [answer]],
    ['operator-command', { id: 1, verb: 'stop', by: 'ada', data: {} }, [wish({ verb: 'stop' })]],
    [
      'operator-command',
      { id: 1, verb: 'skip', by: 'ada', data: { task: 'a', why: 'old' } },
      [wish({ verb: 'skip', task: 'a', why: 'old' })],
    ],
    [
      'operator-command',
      { id: 1, verb: 'skip', by: 'ada', data: { task: 'a' } },
      [wish({ verb: 'skip', task: 'a', why: '' })],
    ],
    ['operator-command', { id: 1, verb: 'skip', by: 'ada', data: { why: 'old' } }, []],
    ['operator-command', { id: 1, verb: 'pause', by: 'ada', data: { on: '../x' } }, []],
    ['operator-command', { id: 1, verb: 'become-root', by: 'ada', data: {} }, []],
    ['run-resumed', {}, [wish({ verb: 'resume', on: 'run' }, 'resume')]],
    ['operator-command', { id: 1, verb: 'answer', by: 'ada', data: { question: 7 } }, []],
    ['operator-command', 'answer', []],
    [
      'work-observed',
      { task: 'a', event: { type: 'integration-started' } },
      [{ task: 'a', work: { type: 'integration-started' } }],
    ],
    ['work-observed', { task: 'a', event: { type: 'become-root' } }, []],
    ['work-observed', { event: { type: 'integration-started' } }, []],
    ['run-woken', { why: 'x' }, []],
  ] as [string, Json, object[]][])('%s %j', (type, data, expected) => {
    expect(readInput(event(type, data), {})).toMatchObject(expected);
    expect(readInput(event(type, data), {})).toHaveLength(expected.length);
  });
});

const MESSAGE = {
  ...{ v: '1', session: 's', epoch: 1, seq: 2, id: 's-1-2', agent_instance: 'A-01', from: 'A', to: ['B', 'C'] },
  ...{ type: 'ask', body_encoding: 'json', ttl_ms: 1, ts: 1, body: '{}' },
} as MailMessage;
const ABOUT = { action: 'clarify', task_id: 't', corr: 's-1-1' } as const;
const PLAIN = { type: 'mail', id: 's-1-2', from: 'A', to: ['B', 'C'], kind: 'ask', body: { question: 'x' } };

describe('mail', () => {
  const reading: MailReading = { message: MESSAGE, body: { question: 'x' } };
  const first = { ...MESSAGE, id: 's-1-1', from: 'C' } as MailMessage;
  it.each<[string, MailReading, object]>([
    ['with nothing else', reading, PLAIN],
    ['of a turn', { ...reading, via: 'a' }, { ...PLAIN, via: 'a' }],
    [
      'that replies to something',
      { ...reading, message: { ...MESSAGE, ...ABOUT }, re: { message: first } },
      { ...PLAIN, action: 'clarify', task: 't', corr: 's-1-1', re: { id: 's-1-1', from: 'C' } },
    ],
    [
      'that replies to what a playbook sent',
      { ...reading, re: { message: { ...first, action: 'assign', task_id: 'u' }, key: 'k' } },
      { ...PLAIN, re: { id: 's-1-1', from: 'C', key: 'k', action: 'assign', task: 'u' } },
    ],
  ])('%s', (_name, mail, expected) => {
    expect(readInput(event('mail-sent', { held: null }), { mail })).toStrictEqual([
      { seq: 7, at: 1_000, event: expected },
    ]);
  });

  it('that is gone is nothing', () => {
    expect(readInput(event('mail-sent', { held: null }), {})).toEqual([]);
    expect(readInput(event('mail-overdue', { to: 'B' }), {})).toEqual([]);
  });

  it.each(['mail-overdue', 'mail-task-overdue'])('is late for each who owes an answer: %s', (type) => {
    const mail = { ...reading, key: 'k', message: { ...MESSAGE, ...ABOUT } };
    const late = { type: 'overdue', message: 's-1-2', action: 'clarify', key: 'k', task: 't' };
    const eventsOf = (to: Json, one: MailReading) => readInput(event(type, { to }), { mail: one });
    expect(eventsOf(['B', 'C'], mail)).toStrictEqual(
      ['B', 'C'].map((to) => ({ seq: 7, at: 1_000, event: { ...late, to } })),
    );
    expect(eventsOf('B', reading)).toStrictEqual([
      { seq: 7, at: 1_000, event: { type: 'overdue', message: 's-1-2', to: 'B' } },
    ]);
    expect(eventsOf(7, mail)).toEqual([]);
  });

  it('of a turn comes before the end of that turn', () => {
    const inputs = readInput(SETTLED, { turn: { ...TURN, mail: [reading] } });
    expect(inputs).toMatchObject([
      { seq: 7, at: 1_000, event: PLAIN },
      { task: 'a', work: { type: 'attempt-settled' } },
    ]);
  });
});

describe('what a turn looked at, and waits for', () => {
  it.each([
    [undefined, undefined],
    [null, 'unknown'],
    [0, 'none'],
    [1, 'some'],
  ])('%j tools: %s', (tools, look) => {
    const result = tools === undefined ? RESULT : { ...RESULT, tools };
    const [input] = readInput(SETTLED, { turn: { ...TURN, result } });
    const work = input !== undefined && 'work' in input ? input.work : {};
    expect([(work as { look?: string }).look, 'look' in work]).toEqual([look, look !== undefined]);
  });

  it.each([[[]], [['s-1-1']]])('%j questions', (awaits) => {
    const [input] = readInput(SETTLED, { turn: { ...TURN, awaits } });
    const work = input !== undefined && 'work' in input ? input.work : {};
    expect((work as { awaits?: string[] }).awaits).toEqual(awaits.length === 0 ? undefined : awaits);
    expect('awaits' in work).toBe(awaits.length > 0);
  });
});

describe('what the engine found', () => {
  const facts = { expected: 'b', head: 'b', missing: [], commands: [] };
  const restored = { type: 'branch-restored', restored: true, head: null, paths: [] };
  it.each<[string, Json, object[]]>([
    ['gate-checked', { type: 'gate-checked', facts }, [{ event: { type: 'gate-checked', facts } }]],
    ['gate-checked', { facts }, []],
    [
      'baseline-checked',
      { type: 'baseline-checked', facts: { commit: 'b', commands: [] } },
      [{ event: { type: 'baseline-checked' } }],
    ],
    ['branch-restored', restored, [{ event: restored }]],
    ['clock-set-back', { ms: 5 }, [{ event: { type: 'clock-set-back', ms: 5 } }]],
    ['clock-set-back', { ms: 0 }, [{ event: { type: 'clock-set-back', ms: 0 } }]],
    ['clock-set-back', { ms: -1 }, []],
    ['workspace-allocated', {}, []],
  ])('%s %j', (type, data, expected) => {
    const inputs = readInput(event(type, data), {});
    expect(inputs).toMatchObject(expected);
    expect(inputs).toHaveLength(expected.length);
  });
});

describe('a command of an operator', () => {
  const command = (verb: string, data: Json) => ({ id: 1, verb, by: 'ada', data });
  it.each<[Json, object | undefined]>([
    [command('pause', { on: 'run' }), { by: 'ada', intervention: { verb: 'pause', on: 'run' } }],
    [command('stop', null), { by: 'ada', intervention: { verb: 'stop' } }],
    [command('stop', { verb: 'pause', on: 'run' }), { by: 'ada', intervention: { verb: 'stop' } }],
    [command('skip', {}), undefined],
    ['stop', undefined],
    [{ verb: 'stop', by: 'ada', data: {} }, undefined],
  ])('%j', (data, expected) => expect(interventionOf(data)).toEqual(expected));

  it('that answers may name paths', () => {
    const answer = { question: 'q', answer: 'yes', paths: ['docs'] };
    expect(readInput(event('operator-command', command('answer', answer)), {})).toMatchObject([
      { event: { type: 'answer', ...answer, by: 'ada' } },
    ]);
  });
});
