import { describe, it } from 'vitest';
import type { TestRunner } from '../../src/testing/runtime-stage.ts';

/** vitest as the suite's runner. */
export const vitestRunner: TestRunner = {
  describe: (title, body) => {
    describe(title, body);
  },
  it: (title, body, timeoutMs) => {
    it(title, body, timeoutMs);
  },
  skip: (title) => {
    it.skip(title, () => undefined);
  },
};
