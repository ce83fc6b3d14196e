import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { expectCaptured, promptOf } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { planned, reviewed, type Act, type ScriptedTurn } from './turn-scripts.ts';
import { openSquadOn, turnsTaken, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const CHECKED = `# Objective: Numbers

## Goals

1. numbers.txt is there

## Success Criteria

- [ ] It is there (run: test -f numbers.txt)
`;

const shell = (command: string): Act => ({ act: 'shell', command });
const turn = (name: string, when: RegExp, ...acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });
const plan = (answer: Act): ScriptedTurn => turn('plan', /Split this objective[^]*`cannot`/, answer);
const task = (id: string, files: readonly string[], needs: readonly string[] = []) => ({
  ...{ id, title: `Write ${id}`, brief: `Write ${id}.`, files: [...files], needs: [...needs] },
  acceptance: [`${id} is written`],
});
/** Each task adds a line of its own to its file. */
const build = (id: string, file: string): ScriptedTurn =>
  turn(
    `build ${id}`,
    new RegExp(`# Task ${id}:`),
    shell(`echo ${id} >> ${file} && git add -A && git commit -q -m "Add ${id}"`),
    { act: 'say', text: 'Written.' },
  );
const REVIEW = turn('review', /# Review of task/, shell('git log -1'), reviewed());
const cannot = (why: string, text: string): Act => planned('', [], { cannot: { why, text } });

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

async function runOn(cli: Cli, turns: readonly ScriptedTurn[], more: Readonly<Record<string, string>> = {}) {
  room = await openSquadOn(cli, { files: { 'objective.md': CHECKED, ...more }, turns: () => turns });
  const { engine, environment, model } = room;
  const end = await engine.run(['run', 'objective.md', '--json', '--yes'], environment);
  expect(model.strange).toEqual([]);
  const taken = turnsTaken(engine);
  const opened = room;
  return {
    captured: (name: string, prompt: RegExp, news = false) =>
      expectCaptured(opened, name, (turn) => prompt.test(promptOf(turn)), { news }),
    code: end.code,
    end: end.lines.at(-1),
    asked: model.asked,
    tasks: taken.map(({ attempt }) => attempt.taskId),
    prompts: taken.map(promptOf),
    delivered: () => git(engine.repository, 'show', 'squad/numbers:numbers.txt'),
  };
}

describe.each<Cli>(['claude', 'codex'])('a planner on the real %s', (cli) => {
  const test = it.skipIf(BINARIES[cli] === undefined);

  test('may answer with one task, which one builder does', async () => {
    const one = planned('It is one piece.', [task('numbers', ['numbers.txt'])]);
    const run = await runOn(cli, [plan(one), REVIEW, build('numbers', 'numbers.txt')]);
    expect(run.end, JSON.stringify(run.end)).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(run.tasks).toEqual(['plan', 'numbers', 'numbers']);
    expect(run.delivered()).toBe('numbers');
  });

  test('may say that nothing is to do: done if the criteria pass, and not if they fail', async () => {
    const said = plan(cannot('nothing-to-do', 'numbers.txt is there already'));
    const there = await runOn(cli, [said], { 'numbers.txt': '1\n' });
    expect(there.end, JSON.stringify(there.end)).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(JSON.stringify(there.end)).toContain('nothing was to do: numbers.txt is there already');
    expect(there.tasks).toEqual(['plan']);
    await room?.close();
    // The criterion refuses the end, so work is made of it.
    const fix = turn('fix', /# Task fix-1:/, shell('echo 1 > numbers.txt && git add -A && git commit -q -m "Add it"'), {
      act: 'say',
      text: 'Added.',
    });
    const absent = await runOn(cli, [said, fix, REVIEW]);
    expect(absent.end, JSON.stringify(absent.end)).toMatchObject({ outcome: 'done' });
    expect(absent.tasks).toContain('fix-1');
    expect(absent.delivered()).toBe('1');
    await absent.captured('fixer', /# Task fix-1:/);
  });

  test('may say that the objective is unclear: the run fails with its words, and nobody builds', async () => {
    const run = await runOn(cli, [plan(cannot('unclear', 'Which numbers?'))]);
    expect(run.end, JSON.stringify(run.end)).toMatchObject({
      outcome: 'failed',
      why: expect.stringContaining('the planner finds the objective unclear: Which numbers?') as string,
    });
    expect([run.code, run.tasks]).toEqual([1, ['plan']]);
  });

  test('hears once that two tasks which may run at once share a file, and may divide the work', async () => {
    const shared = planned('Two.', [task('first', ['numbers.txt']), task('second', ['./numbers.txt'])]);
    const divided = planned('One after the other.', [
      task('first', ['numbers.txt']),
      task('second', ['numbers.txt'], ['first']),
    ]);
    const told = /This plan cannot be used:[^]*first and second both change "numbers\.txt"/;
    const builds = [build('first', 'numbers.txt'), build('second', 'numbers.txt')];
    const run = await runOn(cli, [turn('divide', told, divided), plan(shared), REVIEW, ...builds]);
    expect(run.end, JSON.stringify(run.end)).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(run.prompts.filter((prompt) => told.test(prompt))).toHaveLength(1);
    expect(run.delivered()).toBe('first\nsecond');
    await run.captured('planner-again', told, true);
  });

  test('hears it once, and keeps its plan if it sees no other way', async () => {
    const shared = planned('Two.', [task('first', ['numbers.txt']), task('second', ['numbers.txt'])]);
    const told = /This plan cannot be used:[^]*first and second both change "numbers\.txt"/;
    const merge = turn(
      'merge',
      /cannot be merged/,
      ({ prompt }) => shell(`git merge ${/conflicts with ([0-9a-f]{40})/.exec(prompt)?.[1] ?? 'none'} || true`),
      shell(`printf 'first\\nsecond\\n' > numbers.txt && git add -A && git commit -q --no-edit`),
      { act: 'say', text: 'Merged.' },
    );
    const builds = [build('first', 'numbers.txt'), build('second', 'numbers.txt')];
    const run = await runOn(cli, [turn('insist', told, shared), plan(shared), merge, REVIEW, ...builds]);
    expect(run.end, JSON.stringify(run.end)).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(run.prompts.filter((prompt) => told.test(prompt))).toHaveLength(1);
    expect(run.tasks.filter((id) => id === 'plan')).toHaveLength(2);
    expect(run.delivered()).toBe('first\nsecond');
  });
});
