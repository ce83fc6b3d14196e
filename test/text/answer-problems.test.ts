import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { judgementAnswerSchema } from '../../src/model/plan/gate.ts';
import { reviewForm } from '../../src/model/plan/review.ts';
import { teamSchema } from '../../src/playbooks/coordinate/answer.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { ANSWER } from '../../src/playbooks/session/answer.ts';
import { answerSchema } from '../../src/playbooks/shared/tasks.ts';
import { outputProblem } from '../../src/runtimes/shared/turn-verdict.ts';
import { answerProblems } from '../../src/text/answer-problems.ts';
import { asObject, isJsonObject, objectsIn, type Json } from '../../src/text/json.ts';

type Node = Readonly<Record<string, unknown>>;

const playbooks = [createDeliveryPlaybook(), createObjectivePlaybook(), createCouncilPlaybook()];
const FORMS: readonly (readonly [string, Node])[] = [
  ...playbooks.flatMap(({ answers = {} }) =>
    Object.entries(answers).map(([name, { schema }]) => [name, schema] as const),
  ),
  ['review', answerSchema(reviewForm(['design']))],
  ['judgement', answerSchema(judgementAnswerSchema)],
  ['team', answerSchema(teamSchema)],
  ['session worker', ANSWER],
];
const ZOD = /Invalid|expected \w+, received|Unrecognized|Too (?:big|small)|>=|<=|Required|undefined/;

/** The form of a union that has most. */
function formOf(node: Node): Node {
  const forms = objectsIn(node['anyOf'] ?? node['oneOf']);
  const { type } = node;
  if (forms.length === 0) return Array.isArray(type) ? { ...node, type: type[0] } : node;
  const all = forms.map(formOf);
  return all.find((form) => form['type'] === 'object' || form['type'] === 'array') ?? all[0] ?? node;
}

/** A value that fits as far as types go, with one entry in each list. */
function sample(given: Node): Json {
  const node = formOf(given);
  if (Object.hasOwn(node, 'const')) return node['const'] as Json;
  if (Array.isArray(node['enum'])) return node['enum'][0] as Json;
  switch (node['type']) {
    case 'object':
      return Object.fromEntries(
        Object.entries(asObject(node['properties'])).map(([key, part]) => [key, sample(asObject(part))]),
      );
    case 'array':
      return [sample(asObject(node['items']))];
    case 'string':
      return 'text';
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 1;
  }
}

interface Bad {
  readonly name: string;
  readonly answer: Json;
}

/** Wrong values of one place; `put` makes the whole answer of them. */
function badOf(given: Node, name: string, put: (value: Json) => Json): Bad[] {
  const node = formOf(given);
  const wrong: Json[] = [
    ...(node['type'] === 'object' ? [] : [{ odd: [1] }]),
    [[7]],
    12.5,
    null,
    '',
    [],
    'x'.repeat(100_000),
    Array<Json>(2000).fill('x'),
  ];
  const here = wrong.map((value) => ({ name, answer: put(value) }));
  if (node['type'] === 'array') {
    const item = asObject(node['items']);
    return [...here, ...badOf(item, `${name}[0]`, (value) => put([value]))];
  }
  if (node['type'] !== 'object') return here;
  const whole = sample(node);
  if (!isJsonObject(whole)) return here;
  const fields = Object.entries(asObject(node['properties']));
  return [
    ...here,
    { name, answer: put({ ...whole, odd_key: 1 }) },
    ...fields.flatMap(([key, part]) => {
      const path = name === '' ? key : `${name}.${key}`;
      const { [key]: _, ...without } = whole;
      return [
        { name: path, answer: put(without) },
        ...badOf(asObject(part), path, (value) => put({ ...whole, [key]: value })),
      ];
    }),
  ];
}

describe.each(FORMS)('a wrong answer of the form %s', (_, schema) => {
  it('is explained in words of squad, with its place and what is expected', () => {
    const said = badOf(schema, '', (value) => value).flatMap(({ name, answer }) => {
      const problem = outputProblem(schema as Record<string, Json>, answer);
      return problem === undefined ? [] : [{ name, problem }];
    });
    expect(said.length).toBeGreaterThan(0);
    for (const { name, problem } of said) {
      const place = name === '' ? 'the answer' : name;
      expect(problem).toContain(place);
      expect(problem).toMatch(/; it must be \S/);
      expect(problem).not.toMatch(ZOD);
      expect(problem).not.toMatch(/[\n\r]/);
    }
  });
});

describe('a problem of an answer', () => {
  const schema = z.strictObject({
    title: z.string().max(5).describe('a few words'),
    end: z.union([
      z.strictObject({ kind: z.literal('done'), commit: z.string() }),
      z.strictObject({ kind: z.literal('stuck'), why: z.string().min(1).describe('what stops you') }),
    ]),
  });
  const done = { kind: 'done', commit: 'c' };

  it.each([
    [{ end: done }, '`title` is missing; it must be text (at most 5 characters): a few words'],
    [{ title: 'longer', end: done }, '`title` is too long; it must be text (at most 5 characters): a few words'],
    [
      { title: 'a', end: { kind: 'stuck' } },
      '`end.why` is missing; it must be text (at least 1 character): what stops you',
    ],
    [
      { title: 'a', end: { kind: 'stuck', why: '' } },
      '`end.why` is empty; it must be text (at least 1 character): what stops you',
    ],
    [
      { title: 'a', end: { kind: 'odd' } },
      '`end` is an object; it must be an object with `kind`: "done", `commit` or an object with `kind`: "stuck", `why`',
    ],
  ])('of %j', (answer, problem) => {
    expect(answerProblems(schema, answer)).toEqual([problem]);
  });
});
