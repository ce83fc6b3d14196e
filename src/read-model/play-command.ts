import { LIMITS } from '../model/limit-table.ts';
import type { SomeLimits } from '../model/limits.ts';
import { asObject } from '../text/json.ts';
import { plainText } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** Options and objective of a planner's run that the run of its session should get too. */
export interface PlayGiven {
  readonly runtime?: string | undefined;
  readonly name?: string | undefined;
  readonly allowFullAccess?: boolean | undefined;
  readonly limits?: SomeLimits | undefined;
  readonly deadline?: unknown;
  readonly priority?: unknown;
}

/** `play`: options of `squad run`. `playWithout`: keys of `PlayGiven` for which it has no option. */
export interface PlayOptions {
  readonly play: readonly string[];
  readonly playWithout: readonly string[];
}

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

/** Command that plays a session. `folder`: absolute, because its reader may be in any other folder. */
export function playCommand(folder: string, play: readonly string[] = []): string {
  const [path = '', ...more] = [folder, ...play].map((word) => shellWord(plainText(word).replaceAll(/[\t\n]/g, ' ')));
  return [`squad run --session=${path}`, ...more].join(' ');
}

/** Command for the folder that a run made. `options`: those of its definition. */
export function playCommandOf(folder: string, options: unknown): string {
  return playCommand(folder, textsIn(options, 'play'));
}

/** One line about what the command does not say; undefined: it says all. `options`: those of the run's definition. */
export function playNote(options: unknown): string | undefined {
  const without = textsIn(options, 'playWithout');
  if (without.length === 0) return undefined;
  return `The command that plays the session has no option for what the objective says as ${without.join(', ')}. Only --run passes that on.`;
}

/** Empty for a playbook whose options have no such key. */
function textsIn(options: unknown, key: keyof PlayOptions): string[] {
  const { [key]: texts } = asObject(options);
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}
