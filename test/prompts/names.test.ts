import { describe, expect, it } from 'vitest';
import { READING_TOOLS } from '../../src/cli/mcp/reading-tools.ts';
import { SENDING_TOOLS } from '../../src/cli/mcp/sending-tools.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { judgementAnswerSchema } from '../../src/model/plan/gate.ts';
import { reviewForm } from '../../src/model/plan/review.ts';
import { answerSchema } from '../../src/playbooks/shared/tasks.ts';
import { PROMPTS } from '../../src/prompts/shipped.ts';
import { ownText } from '../../src/squad/preflight/roles.ts';

/** The names of all fields below a schema. */
function fieldsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: Record<string, unknown> };
  return [
    ...Object.keys(properties),
    ...Object.values(properties).flatMap(fieldsOf),
    ...Object.values(rest).flatMap(fieldsOf),
  ];
}

const playbooks = [createDeliveryPlaybook(), createObjectivePlaybook(), createCouncilPlaybook()];
const TOOLS = [...READING_TOOLS, ...SENDING_TOOLS];
const KNOWN = new Set([
  ...playbooks.flatMap(({ answers = {} }) => Object.values(answers).flatMap(({ schema }) => fieldsOf(schema))),
  ...fieldsOf(answerSchema(reviewForm(['design']))),
  ...fieldsOf(answerSchema(judgementAnswerSchema)),
  ...TOOLS.flatMap((tool) => [tool.name, ...fieldsOf(tool.schema())]),
  'mail',
]);

describe('each name in a prompt', () => {
  it.each(Object.entries(PROMPTS))('is that of a field or a tool: %s', (_, { body }) => {
    const names = [...body.matchAll(/`([a-z][A-Za-z_]*)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !KNOWN.has(name))).toEqual([]);
  });
});

/** The parts of a good order, and the words by which each prompt that gives work has them. */
const RUBRIC: Readonly<Record<string, RegExp>> = {
  goal: /\{\{run\}\}[^]*# (?:Task|Review of task) \{\{id\}\}[^]*\{\{task\}\}/,
  'where to look': /\{\{files\}\}|\{\{change\}\}/,
  limits: /\{\{place\}\}|Change nothing/,
  done: /\{\{#duties\}\}|\{\{#criteria\}\}/,
};

it.each(['author/first', 'reviewer/first'] as const)('an order has all that it needs: %s', (name) => {
  for (const [part, pattern] of Object.entries(RUBRIC))
    expect([part, pattern.test(PROMPTS[name].body)]).toEqual([part, true]);
});

it('each conversation is told how to report, when to stop and what to assume', () => {
  const { body } = PROMPTS['squad/instructions'];
  for (const part of [
    /say what is missing and why/,
    /After two failed tries at the same error, stop/,
    /what you assumed/,
  ])
    expect(body).toMatch(part);
  expect(PROMPTS['squad/run'].body).toMatch(/squad runs it before work is merged/);
});

it('each role of squad says what it is for, and what it leaves alone', () => {
  const roles = playbooks.flatMap((playbook) => Object.entries(playbook.roles));
  const texts = roles.flatMap(([role, about]) => (ownText(about) === '' ? [] : [[role, ownText(about)] as const]));
  expect(texts.length).toBeGreaterThan(8);
  for (const [role, text] of texts) {
    expect([role, /Your role is /.test(text)]).toEqual([role, true]);
    expect([role, /\b(?:never|not|no|nothing|only)\b/i.test(text)]).toEqual([role, true]);
  }
});
