import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos-row.ts';
import { COUNCIL } from '../support/council-scenario.ts';
import { anywhere, killRuns, referenceOf } from '../support/run-kills.ts';
import { ALL, spread } from '../support/lane.ts';

/*
 * SIGKILL of the engine anywhere in a council, while agents go on and send: each message is sent once, read once and in its
 * sender’s order, as in the run that nobody killed. `npm run test:chaos` kills it at every failpoint.
 */
const KILLS = spread(1, 12);

it(
  `T9 ${KILLS} SIGKILLs in councils: no message lost, none twice, each in its order`,
  { ...ALL, timeout: 240_000 },
  async () => {
    const reference = await referenceOf(COUNCIL);
    expect(reference.end.mail).toEqual([
      'A: report/review_feedback → MAIN, done/verified → MAIN',
      'B: done → MAIN, done/verified → MAIN, ask/clarify → MAIN, done → MAIN',
      'MAIN: ask/review → A B, ask/verify → A B, ask/assign → B, send/answer → B',
      '0 unread',
    ]);
    const { failures, trials } = await killRuns([COUNCIL], { seed: chaosSeed(), trials: KILLS }, anywhere);
    expect(failures).toEqual([]);
    expect(trials).toBeGreaterThanOrEqual(KILLS);
  },
);
