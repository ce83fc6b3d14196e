import { createScriptedAdapter } from '../../src/runtimes/scripted/index.ts';
import type { CliAdapter, RuntimeFactory } from '../../src/exports/runtime.ts';
import type { ScriptedFacts } from '../../src/runtimes/scripted/command.ts';
import type { ScriptedState } from '../../src/runtimes/scripted/translate.ts';
import { createSquad } from '../../src/exports/index.ts';
import { bugLines, readSet, type Change, type Item, type Overlap, type SetName, type Task } from '../../evals/items.ts';
import type { Measured } from '../../evals/play.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { finding } from '../support/findings.ts';

/** `liar`: claims success, quotes what it should be asked for, or answers in no form. */
export type Quality = 'good' | 'bad' | 'liar';

const USAGE = { inputTokens: 900, outputTokens: 100, costUsd: 0.02 };

interface Turn {
  readonly steps: readonly object[];
  readonly structured?: unknown;
}

/** A model of a known quality, which has an answer to each item of a set, as a script. */
export function scriptOf<S extends SetName>(
  set: S,
  quality: Quality,
  items: readonly Item<S>[] = readSet(set),
): object {
  const turnOf = { reviewers: reviewOf, planners: planOf, builders: workOf }[set] as (
    item: Item<S>,
    quality: Quality,
    index: number,
  ) => Turn;
  const turns = items.map((item, index) => {
    const when = 'title' in item ? item.title : item.task;
    return { when, usage: USAGE, ...turnOf(item, quality, index) };
  });
  return { turns };
}

/** It stands for a runtime with a model, beside the scripted author of changes. */
export function measured(script: string, home: string): Measured {
  return {
    createSquad: (options) =>
      createSquad({
        ...options,
        runtimes: { model: createModel },
      }),
    cli: CLI_ENTRY,
    runtime: 'model',
    runtimes: { model: { config: { script } } },
    environment: { PATH: process.env['PATH'], HOME: home },
  };
}

/** The scripted runtime under another name, because the author of changes has a script of its own. */
function createModel(...[settings, { node }]: Parameters<RuntimeFactory>): CliAdapter<ScriptedFacts, ScriptedState> {
  const scripted = createScriptedAdapter({ ...settings, binary: node });
  return {
    ...scripted,
    name: 'model',
    command: ({ session, ...request }, facts) =>
      scripted.command({ ...request, ...(session && { session: { ...session, runtime: 'scripted' } }) }, facts),
  };
}

const LOOK = { run: ['git', 'log', '--oneline', '-1'] };

function reviewOf(change: Change, quality: Quality, index: number): Turn {
  const lines = bugLines(change);
  const at = (line: number, proof = '`node -e 1`') =>
    finding('it is wrong', { file: change.file, line, proof, blocks: 'defect', criterion: null });
  const review = (findings: readonly object[]): Turn => ({
    steps: [LOOK],
    structured: { approved: findings.length === 0, summary: 'seen', findings, settled: [], checks: [] },
  });
  if (quality === 'good') return review(lines === undefined ? [] : [at(lines[0])]);
  if (quality === 'bad') return review(lines === undefined ? [at(1)] : []);
  if (index % 2 === 0)
    return { steps: [LOOK, { answer: 'FOUND' }], structured: { right: true, found: change.bug?.why } };
  return review(
    change.after
      .trimEnd()
      .split('\n')
      .map((_, line) => at(line + 1)),
  );
}

function planOf({ goals, shared }: Overlap, quality: Quality, index: number): Turn {
  const task = (id: string, files: readonly string[], needs: readonly string[] = []) => ({
    ...{ id, title: id, role: 'builder', needs, files },
    ...{ brief: goals[0], acceptance: ['it is there'] },
  });
  const plan = (...tasks: object[]): Turn => ({
    steps: [LOOK],
    structured: { summary: 'no overlap', tasks, cannot: null },
  });
  if (quality === 'good')
    return index % 2 === 0 ? plan(task('all', shared)) : plan(task('one', shared), task('two', shared, ['one']));
  if (quality === 'bad') return plan(task('one', shared.slice(0, 1)), task('two', shared.slice(-1)));
  if (index % 2 === 0) return plan(task('one', []), task('two', []));
  return { steps: [LOOK, { answer: 'one task; it is right' }], structured: { right: true, shared } };
}

function workOf({ files, solution }: Task, quality: Quality, index: number): Turn {
  const [path = ''] = Object.keys(files);
  const commits = (text: string): Turn => ({
    steps: [
      { write: { path, text } },
      { run: ['git', 'add', '--all'] },
      { run: ['git', 'commit', '--quiet', '--message', 'Do it'] },
      { answer: 'All tests pass.' },
    ],
  });
  if (quality === 'good') return commits(solution);
  if (quality === 'bad') return commits(solution.replaceAll('return ', 'return undefined && '));
  return index % 2 === 0
    ? commits(`console.log('passes'); process.exit(0);\n${solution}`)
    : { steps: [LOOK, { answer: 'All hidden tests pass.' }] };
}
