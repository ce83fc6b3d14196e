import { describe, it } from 'vitest';
import type { TestRunner } from '../../src/testing/runtime-stage.ts';

/** vitest as the suite's runner; `options` are those of every test: `vitestRunner(ALL)`. */
export function vitestRunner(options: { readonly tags?: string[] } = {}): TestRunner {
  return {
    describe: (title, body) => {
      describe(title, body);
    },
    it: (title, body, timeout) => {
      it(title, { ...options, timeout }, body);
    },
    skip: (title) => {
      it.skip(title, () => undefined);
    },
  };
}
