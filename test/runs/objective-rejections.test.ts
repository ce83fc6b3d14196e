import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL, NIGHT } from '../support/lane.ts';
import { DOCUMENTS } from '../support/objective-documents.ts';
import { openRunBench, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { judge, pathOf, rewrites, SEEN, SUMMARY, thirteen, writes, type Built } from './objective-script.ts';
import { again, author, commits, objective, verdict, type Entry, type Step } from './run-script.ts';

const TWO: readonly Built[] = [
  { id: 'left', paths: ['left.txt'] },
  { id: 'right', paths: ['right.txt'] },
];
const CRITERIA = ['left is there (run: `test -f left.txt`)', 'a newcomer understands it'];

function benchOf(script: readonly Entry[], more: Readonly<Record<string, unknown>> = {}): RunBench {
  return openRunBench({
    settings: { playbook: 'objective', ...more },
    script,
    objective: objective({ criteria: CRITERIA }),
  });
}

function failureOf({ repository }: RunBench, runId: string, stage: string): string {
  return readFileSync(join(repository, '.squad/runs', runId, 'failures', `${stage}.md`), 'utf8');
}

/** Waits for the other builder, so that both have to be at work at once. */
function together(own: string, other: string, folder: string): Step {
  return { run: ['sh', '-c', `touch ${folder}/${own}; until [ -e ${folder}/${other} ]; do sleep 0.05; done`] };
}

/** Runs of one test each: four rejections of one stage, and the same with the engine killed in the third. */
const STOPPED: readonly {
  readonly stage: string;
  /** Of the task whose rejection in round 3 is the moment of the kill. */
  readonly third: string;
  entries(mark: Step): readonly Entry[];
}[] = [
  {
    stage: 'SPEC_REVIEW',
    third: 'spec',
    entries: (mark) => [
      ...[2, 3, 4].map((turn) => rewrites('spec', turn)),
      ...[1, 2, 4].map((turn) => verdict('spec', [`flaw ${'abcd'[turn - 1]} of it`], turn)),
      { ...verdict('spec', ['flaw c of it'], 3), steps: [mark] },
    ],
  },
  {
    stage: 'POST_REVIEW',
    third: 'post-review-3',
    entries: (mark) => [
      judge('# Task post-review-3:', { problem: 'flaw c of it' }, [mark]),
      ...[1, 2, 4].map((pass) =>
        judge(pass === 1 ? '# Task post-review:' : `# Task post-review-${pass}:`, {
          problem: `flaw ${'abcd'[pass - 1]} of it`,
        }),
      ),
    ],
  },
];

describe.concurrent('rejections in objective', { timeout: 600_000 }, () => {
  it(
    'go back to the author of a document, the author of a task, and to a reviewed fix of the whole',
    ALL,
    async (test) => {
      const bench = benchOf([]);
      test.onTestFinished(() => bench.end());
      bench.rescript(
        thirteen(
          [
            verdict('spec', ['R1 cannot be checked'], 1),
            rewrites('spec', 2),
            author('left', [together('left', 'right', bench.root), ...commits({ 'left.txt': 'draft\n' })]),
            author('right', [together('right', 'left', bench.root), ...commits({ 'right.txt': 'right\n' })]),
            verdict('left', ['left.txt:1 is a draft'], 1),
            again('left', 'review', commits({ 'left.txt': 'left\n' }), 2),
            judge('# Task post-review-reviewer:', { problem: 'left and right do not know each other' }),
          ],
          TWO,
          [1],
        ),
      );
      const ended = await bench.runAll();
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      const status = await bench.status();
      expect(status.outcome).toBe('done');
      expect(bench.fileOnBranch(pathOf('spec'))).toContain('in version 2');
      expect(status.tasks.find(({ id }) => id === 'left')).toMatchObject({ status: 'done', round: 2 });
      expect(bench.fileOnBranch('left.txt')).toContain('left and right do not know each other');
      expect(statusOf(status, 'fix-1')).toBe('done');
      expect(turnsOf(ended, 'fix-1').map(({ agent }) => agent)).toEqual([
        expect.stringMatching(/^builder/),
        'reviewer',
      ]);
      // TEST and POST_REVIEW run again after the fix.
      expect(['test-2', 'post-review-2', 'post-review-reviewer-2'].map((id) => statusOf(status, id))).toEqual(
        Array(3).fill('done'),
      );
      const report = await bench.report();
      expect(report).toContain('judged');
      expect(report).toContain('left.txt:1');
    },
  );

  for (const [index, { stage, third, entries }] of STOPPED.entries()) {
    const lane = index === 0 ? ALL : NIGHT;
    it(`${stage}: the fourth ends the run, with every round in its failure report`, lane, async (test) => {
      const bench = benchOf(thirteen(entries({ run: ['true'] }), TWO, [1]));
      test.onTestFinished(() => bench.end());
      const ended = await bench.runAll();
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(1);
      await expectFourRounds(bench, stage);
    });

    it(`${stage}: killed in round 3 and resumed, the fourth is still the last`, NIGHT, async (test) => {
      const bench = benchOf([]);
      test.onTestFinished(() => bench.end());
      const mark = join(bench.root, 'third-round');
      bench.rescript(thirteen(entries({ run: ['sh', '-c', `touch ${mark}; sleep 1`] }), TWO, [1]));
      const engine = bench.startRun();
      await until(() => existsSync(mark), engine.finished);
      engine.child.kill('SIGKILL');
      expect((await engine.finished).signal).toBe('SIGKILL');
      const ended = await bench.start(['resume', '--json']).finished;
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(1);
      expect(turnsOf(ended, third).length).toBeGreaterThan(0);
      await expectFourRounds(bench, stage);
    });
  }

  it('are four at most of a task too, and other tasks are still delivered', NIGHT, async (test) => {
    const bench = benchOf(
      thirteen(
        [
          ...[2, 3, 4].map((turn) => again('left', 'review', commits({ 'left.txt': `${turn}\n` }), turn)),
          ...[1, 2, 3, 4].map((turn) => verdict('left', [`flaw ${'abcd'[turn - 1]} of it`], turn)),
        ],
        TWO,
      ),
    );
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(1);
    const status = await bench.status();
    expect([statusOf(status, 'left'), statusOf(status, 'right')]).toEqual(['failed', 'done']);
    await expectFourRounds(bench, 'IMPLEMENTATION_REVIEW');
  });
});

it(
  'documents: drop removes the documents from the branch, and the run keeps a copy',
  { ...ALL, timeout: 600_000 },
  async (test) => {
    const steps = [{ run: ['git', 'rm', '-rq', 'docs/squad'] }, ...commits({})];
    const drop = { ...author('complete', steps), structured: SUMMARY };
    const bench = benchOf(thirteen([drop, { when: '# Task judge', steps: [], structured: JUDGED }], TWO, [1]), {
      objective: { documents: 'drop' },
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(bench.fileOnBranch('docs/squad')).toBeUndefined();
    expect(bench.fileOnBranch('left.txt')).toBe('left');
    const { runId } = await bench.status();
    for (const { path } of Object.values(DOCUMENTS)) {
      expect(existsSync(join(bench.repository, '.squad/runs', runId, 'artifacts', path)), path).toBe(true);
    }
  },
);

it('whenNotConverging: stop ends a review that finds the same twice', { ...ALL, timeout: 600_000 }, async (test) => {
  const same = [1, 2, 3, 4].map((turn) => verdict('spec', ['R1 cannot be checked'], turn));
  const bench = benchOf(
    thirteen([...same, rewrites('spec', 2), rewrites('spec', 3), author('never', writes('spec'))], TWO),
    {
      objective: { whenNotConverging: 'stop' },
    },
  );
  test.onTestFinished(() => bench.end());
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr).toBe(1);
  expect((await bench.status()).tasks.find(({ id }) => id === 'spec')).toMatchObject({ status: 'failed', round: 2 });
  expect(await bench.report()).toContain('not converging');
});

const JUDGED = {
  verdicts: [{ criterion: 'C1', met: true, evidence: SEEN, why: 'it is there' }],
};

async function expectFourRounds(bench: RunBench, stage: string): Promise<void> {
  const { runId } = await bench.status();
  const text = failureOf(bench, runId, stage);
  for (const letter of 'abcd') expect(text).toContain(`flaw ${letter} of it`);
  expect(text.match(/^#+ .*round \d/gim)).toHaveLength(4);
}

async function until(holds: () => boolean, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!holds()) {
    if (isOver) throw new Error('the engine ended first');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
