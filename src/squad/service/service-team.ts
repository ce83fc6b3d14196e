import { z } from 'zod';
import type { Clock } from '../../substrate/ports/clock.ts';

/** Between two steps, while the team's runs work. */
const PAUSE_MS = 3_000;

/** The words of `squad serve team`. `until`: when to look again (epoch ms); null: once something changes. */
const teamWordsSchema = z.object({ said: z.array(z.string()), until: z.number().nullable() });

/** Has done what is next for a team, by a process of its own, once something has changed or a time has come. */
export function createServiceTeam({
  clock,
  step,
  say,
  changed,
}: {
  readonly clock: Pick<Clock, 'now'>;
  /** Resolves with what the process printed. */
  readonly step: () => Promise<string | undefined>;
  readonly say: (text: string) => void;
  readonly changed: () => void;
}) {
  let isBusy = false;
  let known: string | undefined;
  let until = Infinity;
  let notBefore = 0;
  let lastProblem = '';
  const heard = (words: string): void => {
    const read = teamWordsSchema.safeParse(parsed(words)).data;
    if (read !== undefined) {
      until = read.until ?? Infinity;
      lastProblem = '';
      for (const text of read.said) say(text);
    } else {
      until = clock.now() + 20 * PAUSE_MS;
      if (words !== lastProblem) say(`the team: ${words}`);
      lastProblem = words;
    }
  };
  return {
    /** `mark` changes with what the team decides by; undefined: there is no team. */
    isDue: (mark: string | undefined, now: number): boolean =>
      mark !== undefined && !isBusy && now >= notBefore && (mark !== known || until <= now),
    /** When a look is due in any case. */
    again: (mark: string | undefined): number =>
      mark === undefined ? Infinity : mark === known ? until : Math.max(notBefore, clock.now() + PAUSE_MS),
    step: (mark: string | undefined): void => {
      isBusy = true;
      // Changes of the step itself are looked at once more.
      known = mark;
      void step()
        .then((words) => heard(words ?? 'its process ended without a word'))
        .catch((error: unknown) => heard(String(error)))
        .finally(() => {
          isBusy = false;
          notBefore = clock.now() + PAUSE_MS;
          changed();
        });
    },
  };
}

function parsed(words: string): unknown {
  try {
    return JSON.parse(words);
  } catch {
    return undefined;
  }
}
