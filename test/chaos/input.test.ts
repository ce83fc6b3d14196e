import { expect, it } from 'vitest';
import { FILE_READER, READERS } from '../malformed/readers.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';

/** Of all readers together. */
const CASES = trialsOf({ commit: 2_000, nightly: 200_000, release: 2_000_000 });
/** Each writes three files: of those, fewer. */
const FILES = Math.ceil(CASES / 40);
const EACH = Math.ceil((CASES - FILES) / READERS.length);

it(`T20 ${CASES} malformed inputs are taken or refused in words`, async () => {
  const seed = chaosSeed();
  const failures: string[] = [];
  let trials = 0;
  for (const reader of [...READERS, FILE_READER]) {
    const { made, failure } = await reader.check({ runs: reader === FILE_READER ? FILES : EACH, seed });
    trials += made;
    if (failure !== undefined) failures.push(`${reader.name}: ${failure}`);
  }
  reportTrials({ fault: 'T20 malformed input', trials, failures: failures.length, bound: 'typed errors only', seed });
  expect(failures).toEqual([]);
});
