import { describe, expect, it } from 'vitest';
import { argumentsOf, nameOf, type Flag } from '../../src/text/flags.ts';

const FLAGS: readonly Flag[] = [
  ['--name <name>'],
  ['--max-usd <n>'],
  ['--model <who=name>'],
  ['--wait'],
  ['--no-wait'],
  ['--trace [to]'],
  ['--allow-full-access'],
];

describe('flags', () => {
  it.each([
    [{}, []],
    [{ name: '--yes', other: 'x' }, ['--name=--yes']],
    [{ maxUsd: 0.5 }, ['--max-usd=0.5']],
    [{ model: { planner: 'opus', ada: 'a b' } }, ['--model=planner=opus', '--model=ada=a b']],
    [{ wait: true }, ['--wait']],
    [{ wait: false }, ['--no-wait']],
    [{ trace: true }, ['--trace']],
    [{ trace: 'langsmith' }, ['--trace=langsmith']],
    [{ allowFullAccess: false, name: undefined }, []],
    [{ allowFullAccess: true, maxUsd: 3 }, ['--max-usd=3', '--allow-full-access']],
  ])('%j as arguments', (given, expected) => {
    expect(argumentsOf(FLAGS, given)).toEqual(expected);
  });

  it('have names, and so have words', () => {
    expect(FLAGS.map(nameOf)).toEqual([
      ...['name', 'max-usd', 'model', 'wait', 'no-wait', 'trace', 'allow-full-access'],
    ]);
    expect([['[run]', ''] as const, ['<words...>', ''] as const].map(nameOf)).toEqual(['run', 'words']);
  });
});
