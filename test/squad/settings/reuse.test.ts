import { describe, expect, it } from 'vitest';
import { isNameOf } from '../../../src/model/setup-step.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

const STEP = 'reuse: node_modules, when: package-lock.json';

/** The problems of steps of `setup`, each with its line. */
function problemsOf(...steps: readonly string[]): readonly string[] {
  const text = `setup:\n${steps.map((step) => `  - { run: x, ${step} }\n`).join('')}`;
  const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  return parsed.ok ? [] : parsed.problems.map(({ line, message }) => `${line}: ${message}`);
}

describe('reuse of a step of setup', () => {
  it.each([
    [[STEP]],
    [['reuse: [node_modules/, packages/*/node_modules], when: [a, b/*.json], for: [reviewer]']],
    [[STEP, 'reuse: .venv, when: uv.lock']],
  ])('%j is one', (steps) => {
    expect(problemsOf(...steps)).toEqual([]);
  });

  it.each([
    [['reuse: ../x, when: a'], /^2: .*is no path below/],
    [['reuse: /x, when: a'], /^2: .*is no path below/],
    [['reuse: a//b, when: a'], /^2: .*is no path below/],
    [['reuse: a/**, when: a'], /^2: .*is no path below/],
    [['reuse: .git, when: a'], /^2: .*git directory/],
    [['reuse: a/.GIT/hooks, when: a'], /^2: .*git directory/],
    [['reuse: x, when: ../a'], /^2: .*is no path below/],
    [['reuse: x'], /^2: .*needs `when`/],
    [['when: x'], /^2: .*needs `reuse`/],
    [[STEP, STEP], /^3: .*names node_modules twice/],
    [[STEP, 'reuse: Node_Modules, when: a'], /^3: .*upper and lower case/],
    [[STEP, 'reuse: node_modules/x, when: a'], /^3: .*one is in the other/],
  ])('%j is refused with its line', (steps, message) => {
    const problems = problemsOf(...steps);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(message);
  });

  it.each([
    ['*', 'a', true],
    ['a*', 'b', false],
    ['*.json', 'x.json', true],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'ac', false],
    ['ab*ba', 'aba', false],
    ['x', 'X', false],
  ])('%s names %s: %s', (part, name, is) => {
    expect(isNameOf(part, name)).toBe(is);
  });
});
