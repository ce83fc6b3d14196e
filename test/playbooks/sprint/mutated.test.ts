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
import { SPRINT_TEAM } from './support.ts';

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
  findings: [],
  backlog: BACKLOG,
});
const view = createView(createBoard(factsOf(SPRINT_TEAM)));

const ANSWERS: readonly [form: string, answer: Json][] = [
  ['research', says.RESEARCH],
  ['milestone', says.MILESTONE],
  ['backlog', says.backlog(says.write('b-new'), says.reprioritise('b-old', 3, 70))],
  ['priorities', says.backlog(says.reprioritise('b-other', 1, 10))],
  ['todos', says.todos(says.todo('b-old'), says.todo('b-other', { needs: ['b-old'] }))],
  ['planned', says.planned(says.SPRINT_ID)],
  ['report', says.REPORT],
  ['requests', says.requestPlans({ 'r-1': ['b-new'] }, [says.write('b-new', { source: 'request:r-1' })])],
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
        for (const change of reading.changes ?? []) {
          if (change.do !== 'put' || change.in !== 'sprint-items') continue;
          const before = BACKLOG.find(({ id }) => id === change.id);
          const { version } = itemSchema.parse(change.value);
          expect(version).toBe((before?.version ?? 0) + 1);
          expect(before?.state).not.toBe('selected');
        }
      }),
      { numRuns: trials },
    );
    // Most of them are no answer.
    expect(refused).toBeGreaterThan(trials / 2);
  });
});

const POLICY = 'Words for agents.\n\n```commit-policy\nbegins: type\nlongest: 40\n```\n';

describe.each(['built', 'committed'])('the subject in the answer %s', (form) => {
  it.each<[string, string, boolean, string, string | undefined]>([
    ['fits the policy', 'feat: add a login', false, POLICY, undefined],
    ['lacks what the policy asks for', 'Add a login', false, POLICY, 'has to begin with a type and a colon'],
    ['is longer than the policy says', `feat: ${'x'.repeat(40)}`, false, POLICY, 'at most 40 are allowed'],
    ['is longer than squad allows without one', 'x'.repeat(73), false, '', 'at most 72 are allowed'],
    ['is there although nothing changed', 'feat: add a login', true, POLICY, 'give one of the two'],
  ])('%s', (_, subject, nothing, commitPolicy, problem) => {
    const answers = createSprintPlaybook(says.sprintOptions({ commitPolicy })).answers ?? {};
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
