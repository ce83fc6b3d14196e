import { expect, it } from 'vitest';
import { decideCageCheck, decideIsolationCheck, decideSystemCheck } from '../../src/cli/doctor-checks.ts';
import type { TurnIsolation } from '../../src/substrate/ports/processes.ts';

it.each<[TurnIsolation, string, string[]]>([
  [{ type: 'pid-namespace' }, 'each turn and command in a PID namespace of its own, which ends with it', []],
  [{ type: 'user-namespace' }, 'each turn in a PID namespace of its own, which ends with it; commands without one', []],
  [
    { type: 'none', why: 'unshare: unshare failed: Operation not permitted' },
    'no PID namespace for them',
    [
      'a process can outlive its turn if it sheds its environment, its session and its parents (unshare: unshare failed: Operation not permitted)',
    ],
  ],
])('%o is said, and is in nobody’s way', (isolation, found, problems) => {
  const check = decideIsolationCheck(isolation);
  expect(check).toMatchObject({ name: 'turns', ok: true, found });
  expect(check.problems.map(({ text }) => text)).toEqual(problems);
});

it('says which wall a git of squad’s lacks, and is in nobody’s way', () => {
  expect(decideCageCheck({})).toEqual({ name: 'git cage', ok: true, found: 'bubblewrap', problems: [] });
  const without = decideCageCheck({ problem: 'bubblewrap is not installed' });
  expect(without).toMatchObject({ ok: true, found: 'none' });
  expect(without.problems[0]?.text).toContain('without a cage (bubblewrap is not installed)');
});

it('says where squad was not tried', () => {
  expect(decideSystemCheck('darwin')).toMatchObject([
    {
      ok: true,
      found:
        'macOS: experimental, not yet tried on a Mac, nor is its sandbox for agents that have none of their own (docs/macos.md)',
    },
  ]);
  expect(decideSystemCheck('freebsd')[0]?.found).toMatch(/^freebsd: experimental, not tried there/);
});
