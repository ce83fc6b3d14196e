// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { git } from '../support/git.ts';
import { SPREAD, some } from '../support/lane.ts';

const BRANCH = 'refs/heads/squad/make-things';
/** An engine that is killed there has made the branch, and has not noted it. */
const POINTS = ['run.defined', 'graph.before-apply'] as const;
const MOVES = ['commit', 'no past', 'back', 'delete'] as const;
const ANSWERS = ['restore', 'take in', 'give up'] as const;
const ALL_KINDS = POINTS.flatMap((point) =>
  MOVES.flatMap((move) => ANSWERS.map((answer) => ({ point, move, answer }))),
);

it.each(some(ALL_KINDS, 0, 3))(
  'a run killed at $point whose branch is then moved ($move) goes on, and asks about it ($answer)',
  { ...SPREAD, timeout: 120_000 },
  async ({ point, move, answer }) => {
    const script = [plan([piece('a')]), APPROVE_ALL, author('a', commits({ 'a.txt': 'a\n' }))];
    const bench = openRunBench({ script, files: { 'first.txt': 'first\n' } });
    try {
      const { repository } = bench;
      git(repository, 'commit', '-q', '--allow-empty', '-m', 'second');
      const killed = await bench.runAll([], { SQUAD_FAILPOINTS: `${point}=kill` });
      expect(killed.signal).toBe('SIGKILL');
      const theirs = moveBranch(repository, move);
      let ended = await bench.run(['resume', '--json']);
      for (let asked = 0; ended.code === 3 && asked < 5; asked += 1) {
        expect(ended.lines.findLast(({ type }) => type === 'question-asked')?.['question']).toContain('run-branch');
        expect((await bench.run(['answer', answer])).code).toBe(0);
        ended = await bench.run(['resume', '--json']);
      }
      const { headline } = await bench.status();
      if (move !== 'delete' && answer === 'give up') expect(headline).toContain('a person gave up on');
      // Taken in, it goes before a reviewer, and history that the run does not share is refused.
      else if (answer === 'take in') expect(headline).toMatch(/^(?:DONE|FAILED), /);
      else expect(headline).toMatch(/^DONE, /);
      if (theirs === undefined) return;
      const holders = git(repository, 'for-each-ref', '--contains', theirs, '--format=%(refname)');
      expect(holders, 'their commit is kept').not.toBe('');
    } finally {
      bench.end();
    }
  },
);

/** Where it is now; undefined: nowhere. */
function moveBranch(repository: string, move: (typeof MOVES)[number]): string | undefined {
  const head = git(repository, 'rev-parse', BRANCH);
  if (move === 'delete') {
    git(repository, 'update-ref', '-d', BRANCH);
    return undefined;
  }
  const parents = move === 'commit' ? ['-p', head] : [];
  const to =
    move === 'back'
      ? git(repository, 'rev-parse', `${head}~1`)
      : git(repository, 'commit-tree', `${head}^{tree}`, ...parents, '-m', 'theirs');
  git(repository, 'update-ref', BRANCH, to);
  return to;
}
