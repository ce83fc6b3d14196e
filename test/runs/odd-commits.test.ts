// @module-tag all
import { expect, it } from 'vitest';
import { ALL as NOT_OFTEN, SPREAD, spread } from '../support/lane.ts';
import { ODD_COMMITS } from '../support/odd-commits.ts';
import { randomCommit } from '../support/random-commits.ts';
import { openRunBench, statusOf } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';

/** A plan has at most 50 tasks. */
const AT_ONCE = 24;
const ALL = [
  ...ODD_COMMITS.slice(0, spread(2, ODD_COMMITS.length, 5)),
  ...Array.from({ length: spread(1, 100, 4) }, (_, at) => randomCommit(at + 1)),
];
const PARTS = Array.from({ length: Math.ceil(ALL.length / AT_ONCE) }, (_, at) =>
  ALL.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
);

it.for(PARTS.map((part, at) => [at + 1, part] as const))(
  'no engine ends because of what one task left behind, and the other tasks are delivered (part %i)',
  { ...SPREAD, timeout: 600_000 },
  async ([, odd], test) => {
    const ids = odd.map((_, index) => `odd-${index + 1}`);
    const spoiled = odd.map(([, line], index): Entry => {
      const run = ['sh', '-c', `${line}\nexit 0`];
      return author(`odd-${index + 1}`, [{ run }, { answer: 'done' }]);
    });
    const good = author('good', commits({ 'good.txt': 'good\n' }));
    const nothing = { when: '', steps: [{ answer: 'nothing' }] };
    const bench = openRunBench({
      settings: { limits: { parallel: 4 } },
      script: [plan([...ids, 'good'].map((id) => piece(id))), good, ...spoiled, APPROVE_ALL, nothing],
    });
    test.onTestFinished(() => bench.end());
    const isDelivered = (id: string): boolean => bench.fileOnBranch(`${id}.txt`) === 'a';
    const ended = await bench.runAll();
    expect([0, 1], ended.stderr).toContain(ended.code);
    expect(bench.fileOnBranch('good.txt')).toBe('good');
    const status = await bench.status();
    const ends = ids.map((id, index) => [odd[index]?.[0], statusOf(status, id)]);
    expect(ends.filter(([, as]) => as !== 'done' && as !== 'failed')).toEqual([]);
    const lost = odd.filter(([, , isDone], index) => isDone === 'done' && !isDelivered(ids[index] ?? ''));
    expect(lost.map(([what]) => what)).toEqual([]);
    // 1: a folder that cannot be read stays, and is named.
    expect([0, 1]).toContain((await bench.run(['drop', '--all', '--yes'])).code);
  },
);

it(
  'says of a commit with a name that no folder can have what is wrong with it, and blames no review',
  NOT_OFTEN,
  async (test) => {
    const named = {
      'a file below .git': '.git/config',
      'a file below .GIT': '.GIT/config',
      'a file below ..': '../x',
      'a file named .': '.',
      'a name of 300 bytes': 'nnnnn',
    };
    const odd = ODD_COMMITS.filter(([what]) => what in named);
    expect(odd).toHaveLength(5);
    const bench = openRunBench({
      settings: { limits: { parallel: 4 } },
      script: [
        plan(odd.map((_, at) => piece(`odd-${at}`))),
        ...odd.map(([, line], at) => author(`odd-${at}`, [{ run: ['sh', '-c', line] }, { answer: 'done' }])),
        APPROVE_ALL,
        { when: '', steps: [{ answer: 'nothing' }] },
      ],
    });
    test.onTestFinished(() => bench.end());
    expect((await bench.runAll()).code).toBe(1);
    const { stdout } = await bench.run(['status']);
    for (const [at, [what]] of odd.entries()) {
      const says = stdout.split('\n').find((line) => line.startsWith(`  failed    odd-${at} `)) ?? '';
      expect(says, what).toMatch(/: (?:git checks out no commit with these paths|no disk takes these long names): /);
      expect(says, what).toContain(named[what as keyof typeof named]);
    }
  },
);
