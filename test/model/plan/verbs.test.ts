import { describe, expect, it } from 'vitest';
import { fieldsOf, REQUEST_VERBS, requestOf, requestSchema } from '../../../src/model/plan/verbs.ts';

describe('the command that fields stand for', () => {
  it.each([
    ['pause', {}, { verb: 'pause' }],
    ['pause', { task: 'a', json: true, run: 'r' }, { verb: 'pause', on: 'task/a' }],
    ['cancel', { reason: 'r', agent: 'ada' }, { verb: 'cancel', why: 'r' }],
    [
      'switch',
      { runtime: 'x', agent: ['ada', 'bob'], task: ['a'] },
      { verb: 'switch', runtime: 'x', on: 'agent/ada', also: ['agent/bob', 'task/a'] },
    ],
    ['retry', { task: 'a', agent: 'ada', fresh: true }, { verb: 'retry', task: 'a', agent: 'ada', fresh: true }],
  ] as const)('%s %j', (verb, given, request) => {
    expect(requestOf(verb, given)).toEqual(request);
    expect(requestSchema.safeParse(request).success).toBe(true);
  });

  it('has one scope, except where it takes several', () => {
    expect(() => requestOf('resume', { agent: 'ada', task: 'a' })).toThrow(
      '--agent and --task cannot be given together',
    );
  });

  it.each(REQUEST_VERBS)('has a schema for each field: %s', (verb) => {
    const never = Object.entries(fieldsOf(verb)).filter(([, schema]) => schema.type === 'never');
    expect(never).toEqual([]);
  });
});
