import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { objectiveStages } from '../../src/playbooks/objective/stages.ts';
import { stageListSchema } from '../../src/playbooks/stages/stage-schema.ts';
import { plainJson } from '../../src/text/json.ts';
import { thirteen } from '../runs/objective-script.ts';
import { openRunBench, statusOf, turnsOf, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, type Entry } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

const FOLDER = 'docs/squad/make-things';

const textOf = (example: string): string =>
  readFileSync(new URL(`../../examples/stages/${example}.yaml`, import.meta.url), 'utf8');

/** A repository whose `squad.yaml` is the example, on the scripted runtime. */
function benchFor(example: string, script: readonly Entry[], end: (end: () => void) => void): RunBench {
  const bench = openRunBench({ script });
  end(() => bench.end());
  const path = join(bench.repository, 'squad.yaml');
  const { runtimes } = JSON.parse(readFileSync(path, 'utf8')) as { runtimes: unknown };
  writeFileSync(path, `${textOf(example)}runtimes: ${JSON.stringify(runtimes)}\n`);
  return bench;
}

const entry = (id: string) => ({
  ...{ id, title: `Make ${id}`, brief: `Make ${id}.txt.`, needs: [], paths: [`${id}.txt`] },
  acceptance: [`${id}.txt is there`],
});

describe.concurrent('the lists in examples/stages', { timeout: 120_000 }, () => {
  it('one task is built, reviewed and delivered', ALL, async ({ onTestFinished }) => {
    const bench = benchFor('one-task', [author('build', commits({ 'a.txt': 'a\n' })), APPROVE_ALL], onTestFinished);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(await bench.status()).toMatchObject({ playbook: 'stages', outcome: 'done' });
  });

  it('solo, which comes with squad, takes two turns', ALL, async ({ onTestFinished }) => {
    const script = [author('build', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
    const bench = openRunBench({ script, settings: { playbook: 'solo' } });
    onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(await bench.status()).toMatchObject({ playbook: 'solo', outcome: 'done', usage: { unknownCostTurns: 2 } });
  });

  it('the tasks of a diamond are built beside its guide, tested and judged', ALL, async ({ onTestFinished }) => {
    const script = [
      author('plan', commits({ [`${FOLDER}/plan.md`]: '# Tasks\n\nTwo.\n\n# Risks\n\nNone.\n' }), {
        structured: { tasks: [entry('left'), entry('right')] },
      }),
      ...['left', 'right'].map((id) => author(id, commits({ [`${id}.txt`]: id }))),
      author(
        'guide',
        commits({ [`${FOLDER}/guide.md`]: '# What it does\n\nAll.\n\n# How to use it\n\nAs you like.\n' }),
      ),
      {
        ...author('verdict', [{ run: ['test', '-f', 'left.txt', '-a', '-f', 'right.txt'] }, { answer: 'judged' }]),
        structured: { approved: true, summary: 'all there', findings: [], criteria: [] },
      },
      APPROVE_ALL,
    ];
    const bench = benchFor('diamond', script, onTestFinished);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect(['left.txt', 'right.txt'].map((path) => bench.fileOnBranch(path))).toEqual(['left', 'right']);
    expect(bench.fileOnBranch(`${FOLDER}/guide.md`)).toContain('As you like.');
    const status = await bench.status();
    expect(['plan', 'left', 'right', 'guide', 'test', 'verdict'].map((task) => statusOf(status, task))).toEqual(
      Array(6).fill('done'),
    );
    expect(turnsOf(ended, 'test')).toEqual([]);
  });

  it(
    'the tasks of a chain are designed, built and tested one stage behind the other',
    ALL,
    async ({ onTestFinished }) => {
      const judged = { approved: true, summary: 'it works', findings: [], criteria: [] };
      const script = [
        author('plan', commits({ [`${FOLDER}/plan.md`]: '# Tasks\n\nTwo.\n' }), {
          structured: { tasks: [entry('left'), entry('right')] },
        }),
        ...['left', 'right'].flatMap((id) => [
          { ...author(id, [{ answer: 'designed' }]), structured: { design: `As ${id} as it can be.` } },
          author(`${id}-build`, commits({ [`${id}.txt`]: id })),
          { ...author(`${id}-test`, [{ answer: 'judged' }]), structured: judged },
        ]),
        APPROVE_ALL,
      ];
      const bench = benchFor('chain', script, onTestFinished);
      const shown = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--dry-run', '--yes']);
      expect(shown.code, shown.stderr).toBe(0);
      expect(shown.stdout.split('\n\n')[1]).toMatchInlineSnapshot(`
        "   stage         who                                           after
        1  PLAN          lead (scripted)
            Plan: writes plan.md (Tasks) and plans tasks
        2  DESIGN        designer (scripted)                           PLAN
            Design: answers by a schema; once for each task that PLAN plans
        3  BUILD         builder-1 (scripted) or builder-2 (scripted)  DESIGN
            Build: changes code; once behind each task of DESIGN
        4  BUILD_REVIEW  reviewer (scripted)                           BUILD
            a review of at most 2 rounds
        5  TEST          tester (scripted)                             BUILD
            Test: judges the work so far; once behind each task of BUILD; a rejection
            has BUILD done again, at most 2 rounds
        6  CHECKS        squad                                         TEST
            Checks: runs the commands of the criteria"
      `);
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr).toBe(0);
      expect(['left.txt', 'right.txt'].map((path) => bench.fileOnBranch(path))).toEqual(['left', 'right']);
      const status = await bench.status();
      const tasks = ['left', 'right'].flatMap((id) => [id, `${id}-build`, `${id}-test`]);
      expect([...tasks, 'checks'].map((task) => statusOf(status, task))).toEqual(Array(7).fill('done'));
      expect(status.stages?.map(({ state }) => state)).toEqual(Array(6).fill('done'));
    },
  );

  it('the thirteen are those of `objective`', () => {
    const list = stageListSchema.parse((parse(textOf('thirteen')) as { playbook: unknown }).playbook);
    expect(list).toEqual(plainJson({ whenNotConverging: 'report', stages: objectiveStages('keep', 4) }));
  });

  it('the thirteen are played like those of `objective`', ALL, async ({ onTestFinished }) => {
    const tasks = ['left', 'right'].map((id) => ({ id, paths: [`${id}.txt`] }));
    const bench = benchFor('thirteen', thirteen([], tasks), onTestFinished);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect(['left.txt', 'right.txt'].map((path) => bench.fileOnBranch(path))).toEqual(['left', 'right']);
    const { stages = [] } = await bench.status();
    expect(stages.map(({ state }) => state)).toEqual(Array(13).fill('done'));
  });
});
