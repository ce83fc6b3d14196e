/** Nothing of a dead engine goes on: whatever it still tries ends here. */
class EngineDied extends Error {}

/** When an engine dies: around the n-th thing it does to the world. */
export interface Death {
  /** From 1. */
  readonly effect: number;
  /** `after`: it is done, and the engine never hears of it. */
  readonly when: 'before' | 'after';
}

/** One engine process, as far as a simulation in one process can have one: everything it does to the world passes here. */
export interface EngineLife {
  lives(): boolean;
  /** Resolves once it is dead. */
  readonly died: Promise<void>;
  die(): void;
  effects(): number;
  /** What it may call, with the names of what changes the world. Every call throws once it is dead. */
  guard<T extends object>(target: T, effects: readonly string[]): T;
  /** What changes the world and answers later: a dead engine never hears of it. All else is let through. */
  guardAsync<T extends object>(target: T, effects: readonly string[]): T;
}

type Call = (...parameters: unknown[]) => unknown;

export function createEngineLife(death: Death | undefined): EngineLife {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  let alive = true;
  let effects = 0;
  const die = (): void => {
    alive = false;
    resolve();
  };
  /** Whether it is dead by the time it gets here, or gets back. */
  const isFatal = (when: Death['when']): boolean => {
    if (alive && death?.when === when && death.effect === effects) die();
    return !alive;
  };
  const perform = (isEffect: boolean, call: () => unknown): unknown => {
    if (!alive) throw new EngineDied();
    if (!isEffect) return call();
    effects += 1;
    if (isFatal('before')) throw new EngineDied();
    const answer = call();
    if (isFatal('after')) throw new EngineDied();
    return answer;
  };
  const performLater = async (call: () => unknown): Promise<unknown> => {
    if (!alive) return never();
    effects += 1;
    if (isFatal('before')) return never();
    const answer = await call();
    return isFatal('after') ? never() : answer;
  };
  const guardWith =
    (through: (isEffect: boolean, call: () => unknown) => unknown) =>
    <T extends object>(target: T, names: readonly string[]): T =>
      new Proxy(target, {
        get: (of, name) => {
          const member: unknown = Reflect.get(of, name, of);
          if (typeof member !== 'function') return member;
          return (...parameters: unknown[]) =>
            through(typeof name === 'string' && names.includes(name), () =>
              Reflect.apply(member as Call, of, parameters),
            );
        },
      });
  return {
    lives: () => alive,
    died,
    die,
    effects: () => effects,
    guard: guardWith(perform),
    guardAsync: guardWith((isEffect, call) => (isEffect ? performLater(call) : call())),
  };
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
