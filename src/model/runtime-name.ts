/** The runtimes that squad brings along, as `agents[].runtime` names them. */
export const RUNTIME_NAMES = ['claude', 'codex', 'scripted'] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/** Runtimes that never say what a turn cost: a limit in USD does not see their turns. */
export const TELL_NO_COST: ReadonlySet<string> = new Set<RuntimeName>(['codex']);
