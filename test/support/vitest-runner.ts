import { describe, it } from 'vitest';
import type { TestRunner } from '../../src/testing/runtime-stage.ts';
import { ALL } from './lane.ts';

/** vitest as the suite's runner. Cases that `picks` does not pick by their number run in the `rest` of the lanes only. */
export function vitestRunner(picks: (index: number) => boolean = () => true, rest = ALL): TestRunner {
  let index = 0;
  return {
    describe: (title, body) => {
      describe(title, body);
    },
    it: (title, body, timeout) => {
      it(title, { ...(picks(index) ? {} : rest), timeout }, body);
      index += 1;
    },
    skip: (title) => {
      index += 1;
      it.skip(title, () => undefined);
    },
  };
}
