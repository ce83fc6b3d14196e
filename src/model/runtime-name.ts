/** The runtimes that squad brings along, as `agents[].runtime` names them. */
export const RUNTIME_NAMES = ['claude', 'codex', 'scripted'] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];
