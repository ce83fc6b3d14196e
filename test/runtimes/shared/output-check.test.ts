import { describe, expect, it } from 'vitest';
import { checkOutput, schemaProblem } from '../../../src/runtimes/shared/turn-verdict.ts';

const schema = {
  type: 'object',
  properties: { verdict: { enum: ['approve', 'reject'] }, files: { type: 'array', items: { type: 'string' } } },
  required: ['verdict'],
  additionalProperties: false,
};

describe('checkOutput', () => {
  it.each([{ verdict: 'approve' }, { verdict: 'reject', files: ['a'] }])('takes %j', (answer) => {
    expect(checkOutput(schema, answer)).toEqual({ ok: true, value: answer });
  });

  it.each([
    [undefined, 'no structured answer'],
    [null, 'at /:'],
    ['approve', 'at /:'],
    [[], 'at /:'],
    [{}, 'at /verdict:'],
    [{ verdict: 'maybe' }, 'at /verdict:'],
    [{ verdict: 'approve', files: ['a', 2] }, 'at /files/1:'],
    [{ verdict: 'approve', more: 1 }, 'at /:'],
  ])('refuses %j and says where', (answer, where) => {
    const check = checkOutput(schema, answer);
    expect(check.ok ? 'taken' : check.problem).toContain(where);
  });

  it('gives back the answer itself, without defaults of the schema', () => {
    const answer = {};
    const check = checkOutput({ type: 'object', properties: { a: { type: 'string', default: 'x' } } }, answer);
    expect(check).toEqual({ ok: true, value: {} });
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
