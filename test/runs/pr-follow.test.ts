import { describe, expect, it } from 'vitest';
import { addLine, headOf } from '../support/github/pulls.ts';
import { ALL } from '../support/lane.ts';
import { GH, openFollowBench } from './follow-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const NAME = 'make-things';

describe.skipIf(GH === undefined)(`squad pr follow${GH === undefined ? ' (gh is not installed)' : ''}`, () => {
  it(
    'follows a pull request that a person has opened after the end, and pushes what it is asked for there',
    { ...ALL, timeout: 400_000 },
    async (test) => {
      const script = [
        author('fix-1', commits({ 'a.txt': 'better\n' })),
        plan([piece('a')]),
        author('a', commits({ 'a.txt': 'a\n' })),
        APPROVE_ALL,
      ];
      const { bench, state, record, environment, step, drive, whole } = await openFollowBench(test, script, null);
      const squad = async (...words: string[]) => bench.start(words, environment).finished;
      const ended = await bench.runAll([], environment);
      expect(ended.code, ended.stderr).toBe(0);
      const none = await squad('pr', 'follow');
      expect(none.stderr).toBe(
        `squad: squad/${NAME} has no pull request at origin\nNext: Open one: \`squad pr ${NAME}\`. Then \`squad pr follow ${NAME}\`.\n`,
      );
      expect(none.code).toBe(2);
      const opened = await squad('pr', '--base', 'main');
      expect(opened.code, opened.stderr).toBe(0);
      const wrong = await squad('pr', 'follow', '--days', '100');
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^squad: --days: .*90.*\nNext: .*\n$/)]);
      expect(record()).toBeUndefined();
      const pull = whole();
      const followed = await squad('pr', 'follow', NAME, '--rounds', '3', '--json');
      expect(followed.code, followed.stderr).toBe(0);
      expect(JSON.parse(followed.stdout)).toMatchObject({
        ...{ type: 'pull-request-followed', name: NAME, number: pull.number, isNew: true, state: 'follows' },
        ...{ serves: false, rounds: 0 },
      });
      const again = await squad('pr', 'follow');
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('since before, after 0 rounds')]);
      const first = headOf(state, pull);
      const line = addLine(state, pull, { user: 'owner', body: 'Make it better', path: 'a.txt', line: 1 });
      expect(await step()).toContain('get 0 failed checks and 1 comments');
      await drive();
      const second = headOf(state, pull);
      expect(second).not.toBe(first);
      expect(bench.fileOnBranch('a.txt')).toBe('better');
      await step();
      expect(pull.lines.filter(({ user }) => user === 'squad-bot')).toMatchObject([
        { in_reply_to_id: line.id, body: expect.stringContaining(`done in ${second}.`) },
      ]);
      expect(record()).toMatchObject({ rounds: 1, head: second, settings: { rounds: 3, days: 14, base: 'main' } });
      expect(state.pulls.size).toBe(1);
      pull.state = 'MERGED';
      await step();
      const over = await squad('pr', 'follow');
      expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('is merged or closed')]);
    },
  );
});
