import { describe, it } from 'vitest';
import type { TestRunner } from '../../src/testing/runtime-stage.ts';

/** vitest as the suite's runner. */
export const vitestRunner: TestRunner = {
  describe: (title, body) => void describe(title, body),
  it: (title, body, timeoutMs) => void it(title, body, timeoutMs),
  skip: (title) => void it.skip(title, () => undefined),
};
