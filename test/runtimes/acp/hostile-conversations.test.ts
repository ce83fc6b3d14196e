// @module-tag all
import { expect, it } from 'vitest';
import { chaosSeed, reportTrials } from '../../support/chaos-row.ts';
import { hostileTrial } from '../../support/hostile-trial.ts';
import { SPREAD, spread } from '../../support/lane.ts';

const TRIALS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(6, 50));
const WIDTH = 4;

/*
 * Each is a real agent process in its cage that lies, floods, forks and asks for what it must not have. The judge looks at
 * the disk, at the answers that the agent got, and at the processes.
 */
it(
  `${TRIALS} hostile conversations: no permission beyond the policy, no write outside, no hang, only typed failures`,
  { ...SPREAD, timeout: 30 * 60_000 },
  async () => {
    const seed = chaosSeed();
    const ends = new Map<string, number>();
    const failures: string[] = [];
    let allowed = 0;
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < TRIALS) {
        const trial = seed * 1_000_003 + next;
        next += 1;
        try {
          const { result, allowed: given } = await hostileTrial(trial);
          const how = result.failure?.kind ?? result.outcome;
          ends.set(how, (ends.get(how) ?? 0) + 1);
          allowed += given;
        } catch (error) {
          failures.push(`trial ${trial}: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, lane));
    console.log(JSON.stringify(Object.fromEntries(ends)), `${allowed} permissions given`);
    reportTrials({
      fault: 'T14 hostile ACP conversations',
      trials: TRIALS,
      failures: failures.length,
      bound: '0 failures',
      seed,
    });
    expect(failures).toEqual([]);
    // They get somewhere: about one in five ends well, and one in six gives a permission. Ten of them may have neither.
    if (TRIALS < 50) return;
    expect(ends.get('completed')).toBeGreaterThan(0);
    expect(allowed).toBeGreaterThan(0);
  },
);
