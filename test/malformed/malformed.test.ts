// @module-tag all
import { describe, expect, it } from 'vitest';
import { FILE_READER, READERS } from './readers.ts';
import { SPREAD, spread } from '../support/lane.ts';

/** Of all readers together; objectives and settings have more of their own beside their parsers' tests. */
const CASES = spread(1_000, 2_000);
const EACH = Math.ceil(CASES / (READERS.length + 1));

describe('T20: whatever is read, it is taken or refused in words', { ...SPREAD, timeout: 300_000 }, () => {
  it.each([...READERS, FILE_READER].map((one) => [one.name, one] as const))(
    `T20 %s: ${EACH} malformed ones`,
    async (_name, reader) => {
      const { failure } = await reader.check({ runs: EACH });
      expect(failure).toBeUndefined();
    },
  );
});
