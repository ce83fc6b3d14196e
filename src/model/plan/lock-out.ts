/** Failures that only a person can fix, and that a stand-in helps against. */
export const LOCK_OUT_KINDS = [
  'auth',
  'billing',
  'cli-missing',
  'cli-unsupported',
  'sandbox-unavailable',
  'model-unavailable',
  'setting-unsupported',
] as const;
export type LockOutKind = (typeof LOCK_OUT_KINDS)[number];

/** The problem is in the settings of one agent: others can work on the same account. */
const OF_AGENT: ReadonlySet<LockOutKind> = new Set(['model-unavailable', 'setting-unsupported']);

export function isOfAgent(kind: LockOutKind): boolean {
  return OF_AGENT.has(kind);
}
