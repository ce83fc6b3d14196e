import { expect, it } from 'vitest';
import { decideIsolationCheck } from '../../src/cli/doctor-checks.ts';
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
