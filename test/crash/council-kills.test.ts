import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos-row.ts';
import { COUNCIL } from '../support/council-scenario.ts';
import { anywhere, killRuns, referenceOf } from '../support/run-kills.ts';

/*
 * SIGKILL of the engine anywhere in a council, while agents go on and send: each message is sent once, read once and in its
 * sender’s order, as in the run that nobody killed. `npm run test:chaos` kills it at every failpoint.
 */
it('T9 6 SIGKILLs in councils: no message lost, none twice, each in its order', { timeout: 240_000 }, async () => {
  const reference = await referenceOf(COUNCIL);
  expect(reference.end.mail).toEqual([
    'A: report/review_feedback → MAIN, done/verified → MAIN',
    'B: done → MAIN, done/verified → MAIN, ask/clarify → MAIN, done → MAIN',
    'MAIN: ask/review → A B, ask/verify → A B, ask/assign → B, send/answer → B',
    '0 unread',
  ]);
  const { failures, trials } = await killRuns([COUNCIL], { seed: chaosSeed(), trials: 6 }, anywhere);
  expect(failures).toEqual([]);
  expect(trials).toBeGreaterThanOrEqual(6);
});
