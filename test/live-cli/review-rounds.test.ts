import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { finding } from '../support/findings.ts';
import { git } from '../support/git.ts';
import type { Finding } from '../../src/model/plan/review.ts';
import { expectCaptured, promptOf } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { planned, reviewed, type Act, type Asked, type ScriptedTurn } from './turn-scripts.ts';
import { openSquadOn, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const BRANCH = 'squad/numbers';
const OBJECTIVE = `# Objective: Numbers

## Goals

1. lib/sum.mjs exports sum(a, b)

## Success Criteria

- [ ] It is there (run: test -f lib/sum.mjs)
`;
const SUM = 'export const sum = (a, b) => a + b;\n';
const PRODUCT = 'export const product = (a, b) => a * b;\n';
const FILES = { 'objective.md': OBJECTIVE, 'lib/product.mjs': PRODUCT };

const write = (path: string, text: string): Act => ({ act: 'write', path, text });
const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const turn = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });
const commit = (why: string): Act => shell(`git add -A && git commit -q -m "${why}"`);

/** Runs the command that the prompt gives for a look. */
const looks =
  (named: RegExp) =>
  ({ prompt }: Asked): Act =>
    shell(named.exec(prompt)?.[1] ?? 'echo the prompt names no command');
const CHANGE = looks(/The change is `([^`]+)`/);
const SINCE = looks(/Since then: `([^`]+)`/);

const task = (id: string, files: readonly string[]) => ({
  ...{ id, title: `Write ${id}`, brief: `Write ${files.join(', ')}.`, files: [...files] },
  acceptance: ['it adds both numbers'],
});
const PLAN = turn('plan', /Split this objective/, planned('One.', [task('sum', ['lib/sum.mjs'])]));
const build = (text: string): ScriptedTurn =>
  turn('build', /# Task sum:/, write('lib/sum.mjs', text), commit('Add sum'), say('Written.'));

const answer = (value: Record<string, unknown>): Act => ({ act: 'answer', value });
const rejected = (wrong: Finding, settled: readonly object[] = []): Act =>
  answer({ settled, findings: [wrong], checks: [], approved: false, summary: 'It does not hold yet.' });
const approved = (settled: readonly object[] = []): Act =>
  answer({ settled, findings: [], checks: [], approved: true, summary: 'It holds.' });

/** Which side is merged first is a matter of chance. */
const SIDES = { news: true, chance: /\b(?:left|right)\b/g } as const;

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

async function runOn(cli: Cli, about: Omit<Parameters<typeof openSquadOn>[1], 'files'>) {
  const opened = await openSquadOn(cli, { files: FILES, ...about });
  room = opened;
  const { engine, environment, model, gate } = opened;
  void gate.reached.then(() => gate.open());
  const end = await engine.run(['run', 'objective.md', '--json', '--yes'], environment);
  const last = end.lines.at(-1);
  expect(model.strange).toEqual([]);
  expect(last, `${end.stderr}${JSON.stringify(last)}`).toMatchObject({ outcome: 'done', exitCode: 0 });
  const status = await engine.run(['status', '--json']);
  return {
    asked: model.asked,
    report: readFileSync(String(last?.['report']), 'utf8'),
    captured: (name: string, prompt: RegExp, more?: Parameters<typeof expectCaptured>[3]) =>
      expectCaptured(opened, name, (turn) => prompt.test(promptOf(turn)), more),
    rounds: (JSON.parse(status.stdout) as { reviewRounds: Record<string, number> }).reviewRounds,
    git: (...args: string[]) => git(engine.repository, ...args),
    file: (path: string) => `${git(engine.repository, 'show', `${BRANCH}:${path}`)}\n`,
  };
}

describe.each<Cli>(['claude', 'codex'])('a review on the real %s', (cli) => {
  const test = it.skipIf(BINARIES[cli] === undefined);

  test('hears that the author disagrees, and withdraws: the same commit is delivered, and the report says why', async () => {
    const why = 'a plus b is a sum, as the objective asks';
    const replies = [{ finding: 'F1', as: 'disagree', why }];
    const report = { done: 'Nothing changed.', checked: [], assumed: [], notDone: [], replies };
    const wrong = finding('it adds instead of counting', { file: 'lib/sum.mjs', line: 1, blocks: 'defect' });
    const run = await runOn(cli, {
      turns: () => [
        PLAN,
        turn('disagree', /sum was rejected in review:[^]*F1: lib\/sum\.mjs:1: it adds/, answer(report)),
        turn(
          'withdraw',
          new RegExp(`\\(round 2\\)[^]*F1: [^]*To F1: disagrees\\. ${why}[^]*changed nothing and disagrees`),
          approved([{ finding: 'F1', as: 'withdrawn', why: 'the author is right' }]),
        ),
        turn('reject', /# Review of task sum: .* \(round 1\)/, CHANGE, rejected({ ...wrong, criterion: null })),
        build(SUM),
      ],
    });
    expect(run.rounds).toEqual({ sum: 2 });
    expect(run.git('log', '--format=%s', `main..${BRANCH}`)).toBe('Add sum');
    expect(run.report).toContain('F1 withdrawn');
    expect(run.report).toContain(why);
  });

  test('blocks a fix that breaks what worked, and nothing else that is found late', async () => {
    const defect = finding('it subtracts', { file: 'lib/sum.mjs', line: 1, blocks: 'defect', criterion: null });
    const harm = { ...defect, file: 'lib/product.mjs', wrong: 'product divides now', blocks: 'new-harm' } as const;
    const late = { ...defect, wrong: 'it has no comment' };
    const fixed = [{ finding: 'F1', as: 'fixed', why: 'seen' }];
    const seen = ({ outputs }: Asked): Act =>
      rejected(outputs.join('\n').includes('+export const product = (a, b) => a / b') ? harm : late, fixed);
    const run = await runOn(cli, {
      turns: () => [
        PLAN,
        turn(
          'fix and harm',
          /sum was rejected in review:[^]*F1: lib\/sum\.mjs:1: it subtracts/,
          write('lib/sum.mjs', SUM),
          write('lib/product.mjs', PRODUCT.replace('*', '/')),
          commit('Add, not subtract'),
          say('Fixed.'),
        ),
        turn(
          'repair',
          /sum was rejected in review:[^]*F1: lib\/product\.mjs:1: product divides now/,
          write('lib/product.mjs', PRODUCT),
          commit('Multiply again'),
          say('Repaired.'),
        ),
        turn('review 2', /\(round 2\)[^]*as `new-harm`/, SINCE, seen),
        // What is late is sent back once, and then counts for nothing.
        turn('review 3', /\(round 3\)[^]*product divides now/, SINCE, rejected(late, fixed)),
        turn('review 3 again', /Your verdict cannot be used:[^]*nothing blocks/, rejected(late, fixed)),
        turn('review 1', /\(round 1\)/, CHANGE, rejected(defect)),
        build(SUM.replace('+', '-')),
      ],
    });
    expect(run.rounds).toEqual({ sum: 3 });
    expect([run.file('lib/sum.mjs'), run.file('lib/product.mjs')]).toEqual([SUM, PRODUCT]);
    expect(run.report).toContain('rejected, overruled');
    expect(run.asked.filter((step) => step.startsWith('review 3 again'))).toHaveLength(1);
  });

  test('looks at the merge after a conflict', async () => {
    const either = 'task (?:left|right)';
    const merged = ({ outputs }: Asked): Act => {
      const shown = outputs.join('\n');
      // Each line is new to one side.
      const whole = /^ \+left$/m.test(shown) !== /^ \+right$/m.test(shown) && /^\+ (?:left|right)$/m.test(shown);
      return whole ? approved() : rejected(finding(`the merge is not shown: ${shown}`));
    };
    const side = (name: string): ScriptedTurn =>
      turn(
        `build ${name}`,
        new RegExp(`# Task ${name}:`),
        shell(`printf '${name}\\n' > shared.txt`),
        async () => {
          await room?.gate.pass();
          return commit(`Add ${name}`);
        },
        say('Written.'),
      );
    const run = await runOn(cli, {
      turns: () => [
        turn('plan', /Split this objective/, planned('Two.', [task('left', ['left.txt']), task('right', ['lib'])])),
        turn(
          'merge',
          new RegExp(`Your work on ${either} cannot be merged:[^]*conflicts with [0-9a-f]{40} in:\\n[^]*shared\\.txt`),
          ({ prompt }) => shell(`git merge ${/conflicts with ([0-9a-f]{40})/.exec(prompt)?.[1] ?? 'none'} || true`),
          shell(`printf 'left\\nright\\n' > shared.txt && mkdir -p lib && touch lib/sum.mjs && git add -A`),
          shell('git commit -q --no-edit'),
          say('Merged.'),
        ),
        turn(
          'review the merge',
          new RegExp(
            `# Review of ${either}: .*\\s+Commit [0-9a-f]{40} passed review\\. It could not be merged:[^]*shared\\.txt[^]*Check only this merge`,
          ),
          looks(/`(git show --cc [0-9a-f]{40})`/),
          merged,
        ),
        turn('review left', /# Review of task left: .* \(round 1\)/, CHANGE, reviewed()),
        turn('review right', /# Review of task right: .* \(round 1\)/, CHANGE, reviewed()),
        side('left'),
        side('right'),
      ],
    });
    expect(Object.values(run.rounds).toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(run.file('shared.txt')).toBe('left\nright\n');
    await run.captured('builder-conflict', /cannot be merged/, SIDES);
    await run.captured('reviewer-merged', /Check only this merge/, SIDES);
    expect(run.asked.filter((step) => step === 'review the merge 1')).toHaveLength(1);
  });
});

describe.each<Cli>(['claude', 'codex'])('a tester on the real %s', (cli) => {
  it.skipIf(BINARIES[cli] === undefined)('builds in a copy, of which nothing is delivered', async () => {
    const BUILD =
      "mkdir -p dist && cp lib/sum.mjs dist/sum.mjs && node -e \"import('./dist/sum.mjs').then((m) => console.log('built ' + m.sum(2, 3)))\"";
    const tampered =
      'echo "export const sum = 1;" > lib/sum.mjs && git add -A -f && git commit -q -m Tampered; git log -1 --format=%s';
    const report = ({ outputs }: Asked): Act => {
      const passed = outputs.join('\n').includes('built 5');
      return answer({ passed, summary: 'Tried.', failures: passed ? [] : [outputs.join('\n')] });
    };
    const run = await runOn(cli, {
      tests: true,
      turns: () => [
        PLAN,
        turn('test', /# Task sum-test:[^]*You may build, run and write in it/, shell(BUILD), shell(tampered), report),
        turn('review', /# Review of task sum:/, CHANGE, reviewed()),
        build(SUM),
      ],
    });
    expect(run.asked.filter((step) => step.startsWith('test '))).toHaveLength(3);
    expect(run.git('log', '--format=%s', `main..${BRANCH}`)).toBe('Add sum');
    expect(run.git('diff', '--name-only', 'main', BRANCH)).toBe('lib/sum.mjs');
    expect(run.file('lib/sum.mjs')).toBe(SUM);
    await run.captured('tester', /# Task sum-test:/);
    expect(run.git('log', '--all', '--format=%s')).not.toContain('Tampered');
  });
});
