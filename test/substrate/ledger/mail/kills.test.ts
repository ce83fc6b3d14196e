// @module-tag all
import { expect, test } from 'vitest';
import { killMailWriter, type Death } from '../../../support/mail-kills.ts';
import { ALL } from '../../../support/lane.ts';

/** Each life has written at least once by its end; `npm run test:chaos` has many more. */
const LIVES = 8;

test('a writer of mail that is killed again and again loses nothing, sends nothing twice, and keeps the order', async () => {
  const deaths: Death[] = Array.from({ length: LIVES }, (_, life) => ({ line: 3 + ((life * 17) % 40) }));
  const { problems, acked, accepted } = await killMailWriter(deaths);
  expect(problems).toEqual([]);
  expect(acked).toBeGreaterThan(LIVES);
  expect(accepted).toBeGreaterThan(0);
  console.log(`${acked} acknowledged and ${accepted} read over ${LIVES} kills`);
});

test('killed before and after each kind of commit, it goes on as if nothing had been', ALL, async () => {
  const deaths: Death[] = [1, 3, 5].flatMap((pass) => [
    { points: `mail.before-commit:${pass}` },
    { points: `mail.after-commit:${pass}` },
  ]);
  expect((await killMailWriter([...deaths, { line: 12 }])).problems).toEqual([]);
});
