import { describe, it } from 'vitest';
import type { TestRunner } from '../../src/testing/runtime-stage.ts';
import { ALL } from './lane.ts';

/** vitest as the suite's runner. Cases that `onCommit` does not pick by their number run in `npm run test:all` only. */
export function vitestRunner(onCommit: (index: number) => boolean = () => true): TestRunner {
  let index = 0;
  return {
    describe: (title, body) => {
      describe(title, body);
    },
    it: (title, body, timeout) => {
      it(title, { ...(onCommit(index) ? {} : ALL), timeout }, body);
      index += 1;
    },
    skip: (title) => {
      index += 1;
      it.skip(title, () => undefined);
    },
  };
}
