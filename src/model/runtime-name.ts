/** The runtimes that come with squad, as `agents[].runtime` names them. */
export const RUNTIME_NAMES = ['claude', 'codex', 'scripted'] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/** Login commands by account. An account has its runtime's name. */
export const LOGIN_COMMANDS: Readonly<Record<string, string | undefined>> = {
  claude: 'claude auth login',
  codex: 'codex login',
};

/** Runtimes that never say what a turn cost: a limit in USD does not see their turns. */
export const REPORTS_NO_COST: ReadonlySet<string> = new Set<RuntimeName>(['codex']);
