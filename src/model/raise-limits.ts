import type { Limits, SomeLimits } from './settings.ts';

/** `some` in place of those of `limits`; what is absent there stays as it is. */
export function raiseLimits(limits: Limits, some: SomeLimits | undefined): Limits {
  const raised = { ...limits, ...given(some) };
  return some?.task === undefined ? raised : { ...raised, task: { ...limits.task, ...given(some.task) } };
}

function given<T extends object>(some: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(some ?? {}).filter((entry) => entry[1] !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
