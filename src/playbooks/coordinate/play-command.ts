import { LIMITS } from '../../model/limit-table.ts';
import type { SomeLimits } from '../../model/limits.ts';
import { plainText } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CoordinateOptions } from './options.ts';

/** Options and objective of a planner's run that the run of its session should get too. */
export interface PlayGiven {
  readonly runtime?: string | undefined;
  readonly name?: string | undefined;
  readonly allowFullAccess?: boolean | undefined;
  readonly limits?: SomeLimits | undefined;
  readonly deadline?: unknown;
  readonly priority?: unknown;
}

/** `PlayGiven` as options of `squad run`, and the names of what no option says. */
export type PlayOptions = Pick<CoordinateOptions, 'play' | 'playWithout'>;

export function playOptions(given: PlayGiven): PlayOptions {
  const { runtime, name, allowFullAccess, limits = {}, deadline, priority } = given;
  const flags = Object.fromEntries(LIMITS.map(({ key, flag }) => [key, flag?.name]));
  const named = Object.entries({ '--runtime': runtime, '--name': name });
  const set = Object.entries(limits).filter(([, value]) => value !== undefined);
  return {
    play: [
      ...named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
      ...set.flatMap(([key, value]) => (flags[key] === undefined ? [] : [flags[key], JSON.stringify(value)])),
      ...(allowFullAccess === true ? ['--allow-full-access'] : []),
    ],
    playWithout: [
      ...Object.entries({ deadline, priority }).flatMap(([key, value]) => (value === undefined ? [] : [key])),
      ...set.flatMap(([key]) => (flags[key] === undefined ? [`limits.${key}`] : [])),
    ],
  };
}

/** Command that plays the session in a folder. `folder`: absolute, because the reader of the command may be in any other folder. */
export function playCommand(folder: string, { play }: Pick<PlayOptions, 'play'>): string {
  const [path = '', ...more] = [folder, ...play].map((word) => shellWord(plainText(word).replaceAll(/[\t\n]/g, ' ')));
  return [`squad run --session=${path}`, ...more].join(' ');
}

/** One line about what the command does not say; undefined: it says all. */
export function playNote({ playWithout }: Pick<PlayOptions, 'playWithout'>): string | undefined {
  if (playWithout.length === 0) return undefined;
  return `The command that plays the session has no option for what the objective says as ${playWithout.join(', ')}. Only --run passes that on.`;
}
