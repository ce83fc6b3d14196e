import type { GitContext } from '../git-context.ts';

/** The keys that the run at work needs. */
interface Wanted {
  /** By command. */
  readonly keys: Map<string, string>;
  /** Those that ask for one key follow each other: the first one makes what the others get. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>;
}

const all = new WeakMap<GitContext, Wanted>();

export function wanted(context: GitContext): Wanted {
  const known = all.get(context);
  if (known !== undefined) return known;
  const last = new Map<string, Promise<unknown>>();
  const made: Wanted = {
    keys: new Map(),
    inTurn: async (key, work) => {
      const before = last.get(key);
      const own = (async () => {
        await before?.catch(() => undefined);
        return work();
      })();
      last.set(key, own);
      return own;
    },
  };
  all.set(context, made);
  return made;
}
