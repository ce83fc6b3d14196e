import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerReading } from '../../../src/model/plan.ts';
import { itemSchema } from '../../../src/model/sprint/item.ts';
import { createReviewPlaybook, createSprintPlaybook } from '../../../src/playbooks/sprint/index.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { createView } from '../../../src/rules/view.ts';
import { isJsonObject, type Json } from '../../../src/text/json.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import * as says from '../../support/sprint-script.ts';
import { factsOf } from '../simulator.ts';
import { playSprint, progressIn, recordsIn, SPRINT_TEAM, turnsOf } from './support.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';

const BACKLOG = [
  says.entry('b-old', { version: 3 }),
  says.entry('b-taken', { state: 'selected' }),
  says.entry('b-other'),
];
const { answers: ofSprint = {} } = createSprintPlaybook(says.sprintOptions({ backlog: BACKLOG }));
const requests = [{ id: 'r-1', text: 'x', by: 'dana', joined: [], attachments: [] }];
const { answers: ofReview = {} } = createReviewPlaybook({
  files: '/state/attachments',
  requests,
  findings: [{ id: 'f-1', source: 'log', title: 'Traceback', detail: 'in app.py', firstSeen: 1 }],
  backlog: BACKLOG,
});
const view = createView(createBoard(factsOf(SPRINT_TEAM)));

const ANSWERS: readonly [form: string, answer: Json][] = [
  ['research', says.RESEARCH],
  ['milestone', says.MILESTONE],
  [
    'backlog',
    says.backlog(
      says.write('b-new', { source: `sprint:${says.SPRINT_ID}` }),
      says.reprioritise('b-old', 3, 70),
      says.write('b-other', { ...says.NO_CHANGE, op: 'dedupe', version: 1, same_as: 'b-new' }),
    ),
  ],
  ['priorities', says.backlog(says.reprioritise('b-other', 1, 10))],
  ['todos', says.todos(says.todo('b-old'), says.todo('b-other', { needs: ['b-old'] }))],
  ['planned', says.planned(says.SPRINT_ID)],
  ['report', says.REPORT],
  [
    'requests',
    says.requestPlans(
      { 'r-1': ['b-new', 'b-old'] },
      [says.write('b-new', { source: 'finding:f-1' }), says.reprioritise('b-old', 3, 70)],
      [{ id: 'f-1', item: 'b-new', reason: 'it is new' }],
    ),
  ],
];

function read(form: string, answer: Json): AnswerReading {
  return (ofSprint[form] ?? ofReview[form])?.read?.(view, answer, form) ?? {};
}

/** Every place in a value. */
function placesIn(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const own = at.length === 0 ? [] : [at];
  if (Array.isArray(value)) return [...own, ...value.flatMap((one, index) => placesIn(one, [...at, index]))];
  if (!isJsonObject(value)) return own;
  return [...own, ...Object.entries(value).flatMap(([key, one]) => placesIn(one, [...at, key]))];
}

const GONE = Symbol('gone');

function changed(value: Json, [key, ...rest]: readonly (string | number)[], to: Json | typeof GONE): Json {
  if (key === undefined) return to === GONE ? null : to;
  const copy = structuredClone(value) as Record<string | number, Json>;
  if (rest.length > 0) copy[key] = changed(copy[key] ?? null, rest, to);
  else if (to !== GONE) copy[key] = to;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy;
}

/** What hostile or careless planners put in place of a value. */
const INSTEAD = fc.oneof(
  fc.constant(GONE),
  fc.constantFrom<Json>(
    null,
    '',
    ' ',
    true,
    -1,
    0,
    1.5,
    1e9,
    [],
    {},
    'b-none',
    'b-taken',
    'b-old',
    'drop',
    'block',
    'reopen',
  ),
  fc.constantFrom<Json>(
    'x'.repeat(9_000),
    Array.from({ length: 60 }, () => says.write('b-many')),
    { toString: 1 },
  ),
  fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as Json),
);

describe('an answer of a planner that is not as it should be', () => {
  it.each(ANSWERS)('is taken as it should be: %s', (form, answer) => {
    expect(read(form, answer).problems).toBeUndefined();
  });

  const own = ANSWERS.filter(([form]) => form !== 'requests');

  it.each<[string, Record<string, Json>, string]>([
    ['for another request', { request_id: 'b-none' }, `\`request_id\` must be ${says.SPRINT_ID}`],
    ['from another role', { role: 'qa' }, '`role` must be '],
    ['of a step that is blocked and advances', { status: 'blocked' }, '`block` goes with blocked or failed'],
    ['of a step that failed without a reason', { status: 'failed' }, '`error` does not say why'],
  ])('is refused in each form: %s', (_, more, problem) => {
    for (const [form, answer] of own) {
      const reading = read(form, { ...(answer as Record<string, Json>), ...more });
      expect(reading.problems?.join('\n'), form).toContain(problem);
      expect(Object.keys(reading), form).toEqual(['problems']);
    }
  });

  it('has problems and changes nothing, or is another good answer', { ...SPREAD, timeout: 120_000 }, () => {
    let refused = 0;
    const trials = spread(500, 5_000);
    const mutated = fc
      .constantFrom(...ANSWERS)
      .chain(([form, answer]) =>
        fc
          .array(fc.tuple(fc.constantFrom(...placesIn(answer)), INSTEAD), { minLength: 1, maxLength: 3 })
          .map(
            (steps) =>
              [
                form,
                steps.reduce((value, [at, to]) => (isThere(value, at) ? changed(value, at, to) : value), answer),
              ] as const,
          ),
      );
    fc.assert(
      fc.property(mutated, ([form, answer]) => {
        const reading = read(form, answer);
        if (reading.problems !== undefined) {
          refused += 1;
          expect(reading.problems.length).toBeGreaterThan(0);
          expect(reading.problems.length).toBeLessThanOrEqual(31);
          expect(Object.keys(reading)).toEqual(['problems']);
          return;
        }
        const { proposals } = answer as unknown as { readonly proposals: Proposed };
        const { backlog_writes: writes = [], todos = [] } = proposals;
        const changes = (reading.changes ?? []).flatMap((change) =>
          change.do === 'put' && change.in === 'sprint-items' ? [change] : [],
        );
        expect(changes.map(({ id }) => id)).toEqual(writes.map(({ id }) => id));
        for (const [at, { id, value }] of changes.entries()) {
          const before = BACKLOG.find((item) => item.id === id);
          expect(writes[at]).toMatchObject({ version: before?.version ?? 0, ...(before ? {} : { op: 'add' }) });
          expect(itemSchema.parse(value).version).toBe((before?.version ?? 0) + 1);
          expect(before?.state).not.toBe('selected');
        }
        for (const { item } of todos) expect(['b-old', 'b-other']).toContain(item);
        if (form === 'requests') expect(proposals.requests?.map(({ request_id: id }) => id)).toEqual(['r-1']);
      }),
      { numRuns: trials },
    );
    // Most of them are no answer.
    expect(refused).toBeGreaterThan(trials / 2);
  });
});

interface Proposed {
  readonly backlog_writes?: readonly { readonly id: string }[];
  readonly todos?: readonly { readonly item: string }[];
  readonly requests?: readonly { readonly request_id: string }[];
}

/** Keys whose values have to be known: ids, and versions that were read. */
const REFERENCES: ReadonlySet<string | number | undefined> = new Set([
  ...['request_id', 'id', 'item', 'items', 'needs', 'same_as', 'source', 'version'],
]);

/** Each reference in an answer, with its path. A new item makes its own id. */
const references = ANSWERS.flatMap(([form, answer]) =>
  placesIn(answer).flatMap((at) => {
    const value = valueAt(answer, at);
    const key = at.findLast((one) => typeof one === 'string');
    const isScalar = typeof value === 'string' || typeof value === 'number';
    const isNew = key === 'id' && asOp(valueAt(answer, at.slice(0, -1))) === 'add';
    return REFERENCES.has(key) && isScalar && !isNew ? [[form, at.join('.'), at, value] as const] : [];
  }),
);

describe('a reference in the answer of a planner', () => {
  it('stands in each form that has one', () => {
    const seen = (form: string) =>
      references.flatMap(([of, path]) => (of === form && path.startsWith('proposals') ? [path.slice(10)] : []));
    expect(seen('backlog')).toEqual(
      expect.arrayContaining(['backlog_writes.0.source', 'backlog_writes.1.version', 'backlog_writes.2.same_as']),
    );
    expect(seen('priorities')).toEqual(['backlog_writes.0.id', 'backlog_writes.0.version']);
    expect(seen('todos')).toEqual(['todos.0.item', 'todos.1.item', 'todos.1.needs.0']);
    expect(seen('requests')).toEqual(
      expect.arrayContaining(['requests.0.request_id', 'requests.0.items.1', 'findings.0.id', 'findings.0.item']),
    );
  });

  it.each(references)(
    '%s: is refused at %s where it is unknown or stale, and changes nothing',
    (form, _, at, value) => {
      const [, answer] = ANSWERS.find(([one]) => one === form) ?? [];
      for (const other of typeof value === 'number' ? [value - 1, value + 1] : ['b-none', ` ${value}`, '']) {
        const reading = read(form, changed(answer ?? null, at, other));
        expect(Object.keys(reading), String(other)).toEqual(['problems']);
        expect(reading.problems?.join('\n')).toMatch(
          typeof value === 'number'
            ? /its version is \d+, and this write is of -?\d+: read it again|the version of a new item is 0/
            : /no such item|no item|is no item|no todo|must be|there is no (?:request|finding)/,
        );
      }
    },
  );

  it.each<[string, string, Json]>([
    ['an id that no item has', 'the backlog has no such item', says.backlog(says.reprioritise('b-none', 1, 70))],
    ['a stale version', 'its version is 1, and this write is of 0', says.backlog(says.reprioritise('b-one', 0, 70))],
  ])('that stays %s goes back twice, and then ends the sprint with its items as they were', (_, problem, answer) => {
    const played = playSprint({ answers: { priorities: [answer] } });
    expect(turnsOf(played).slice(-3)).toEqual(['priorities', 'priorities', 'priorities']);
    const repairs = played.turns.flatMap(({ prompt }) => (prompt.why === 'repair' ? [prompt.text] : []));
    expect(repairs).toEqual([expect.stringContaining(problem), expect.stringContaining(problem)]);
    expect(played.board.finished).toMatchObject({ outcome: 'failed', why: expect.stringContaining(problem) });
    const items = recordsIn(played.playbook, played.board).filter(({ kind }) => kind === KINDS.item);
    expect(items.map(({ id, value }) => [id, itemSchema.parse(value)])).toMatchObject([
      ['b-one', { version: 1, priority: 50 }],
      ['b-two', { version: 1, priority: 50 }],
    ]);
    expect(progressIn(played).todos).toEqual([]);
  });
});

function asOp(value: unknown): unknown {
  return (value as { readonly op?: unknown } | null)?.op;
}

function valueAt(value: Json, at: readonly (string | number)[]): unknown {
  return at.reduce<unknown>((now, key) => (now as Record<string | number, unknown>)[key], value);
}

describe.each(['built', 'committed'])('the subject in the answer %s', (form) => {
  it.each<[string, string | null, boolean, string | undefined]>([
    ['may be there, and is judged by the commit that has it', 'add a login', false, undefined],
    ['is missing where nothing changed', null, true, undefined],
    ['is there although nothing changed', 'feat: add a login', true, 'give one of the two'],
  ])('%s', (_, subject, nothing, problem) => {
    const answers = createSprintPlaybook(says.sprintOptions()).answers ?? {};
    const { proposals, ...rest } = (form === 'built' ? says.built : says.committed)(says.SPRINT_ID) as {
      readonly [key: string]: Json;
      readonly proposals: Record<string, Json>;
    };
    const answer = { ...rest, proposals: { ...proposals, commit_subject: subject, no_changes: nothing } };
    const { problems } = answers[form]?.read?.(view, answer, form) ?? {};
    if (problem === undefined) expect(problems).toBeUndefined();
    else expect(problems?.join('\n')).toContain(problem);
  });
});

function isThere(value: Json, at: readonly (string | number)[]): boolean {
  let now: unknown = value;
  for (const key of at) {
    if (typeof now !== 'object' || now === null || !Object.hasOwn(now, key)) return false;
    now = (now as Record<string | number, unknown>)[key];
  }
  return true;
}
