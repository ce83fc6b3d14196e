import { describe, expect, it } from 'vitest';
import { decideFault } from '../../src/rules/work-fault.ts';
import type { Phase } from '../../src/model/plan/work.ts';

describe('what follows from something that was thrown for a task', () => {
  const failed = { type: 'settle-asked', as: 'failed', cause: 'verify', why: 'it broke' };
  it.each<[Phase['at'], object | undefined]>([
    ['integrating', failed],
    ['verifying', failed],
    ...(['advancing', 'working', 'reviewing', 'in-queue', 'stopping', 'ended'] as const).map(
      (at): [Phase['at'], undefined] => [at, undefined],
    ),
  ])('while it is %s', (at, expected) => expect(decideFault({ at }, 'it broke', 'head')).toEqual(expected));

  it('while its evidence is gathered: its agent hears of it, and nothing was found', () => {
    expect(decideFault({ at: 'gathering' }, 'it broke', 'head')).toEqual({
      type: 'evidence-gathered',
      facts: {
        ...{ commit: null, commits: 0, changedPaths: [], uncommitted: [], files: [], commands: [], pr: null },
        ...{ base: 'head', problem: 'it broke' },
      },
    });
  });
});
