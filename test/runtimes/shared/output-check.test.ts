import { describe, expect, it } from 'vitest';
import { outputProblem, schemaProblem } from '../../../src/runtimes/shared/turn-verdict.ts';

const schema = {
  type: 'object',
  properties: { verdict: { enum: ['approve', 'reject'] }, files: { type: 'array', items: { type: 'string' } } },
  required: ['verdict'],
  additionalProperties: false,
};

describe('outputProblem', () => {
  it.each([{ verdict: 'approve' }, { verdict: 'reject', files: ['a'] }])('finds none in %j', (answer) => {
    expect(outputProblem(schema, answer)).toBeUndefined();
  });

  it.each([
    [undefined, 'no structured answer'],
    [null, 'the answer is null; it must be an object with `verdict`, `files`'],
    ['approve', 'the answer is the text "approve"; it must be an object'],
    [[], 'the answer is a list; it must be an object'],
    [{}, '`verdict` is missing; it must be "approve" or "reject"'],
    [{ verdict: 'maybe' }, '`verdict` is the text "maybe"; it must be "approve" or "reject"'],
    [{ verdict: 'approve', files: ['a', 2] }, '`files[1]` is 2; it must be text'],
    [{ verdict: 'approve', more: 1 }, 'the answer has `more`, which the schema does not know'],
  ])('refuses %j and says where', (answer, where) => {
    expect(outputProblem(schema, answer)).toContain(where);
  });

  it('leaves the answer as it is, without defaults of the schema', () => {
    const answer = {};
    const withDefault = { type: 'object', properties: { a: { type: 'string', default: 'x' } } };
    expect(outputProblem(withDefault, answer)).toBeUndefined();
    expect(answer).toEqual({});
  });
});

describe('schemaProblem', () => {
  it.each([[schema], [{}], [{ type: 'array', items: {} }]])('finds none in %j', (good) => {
    expect(schemaProblem(good)).toBeUndefined();
  });

  it.each([[{ type: 'what' }], [{ $ref: '#/nowhere' }], [{ $ref: 'https://example.invalid/schema' }]])(
    'finds one in %j',
    (bad) => {
      expect(schemaProblem(bad)).toMatch(/\w/);
    },
  );
});
