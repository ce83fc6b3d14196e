/** The runtimes that squad brings along, as `agents[].runtime` names them. */
export const RUNTIME_NAMES = ['claude', 'codex', 'scripted'] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/** What a person types to log in, by the account's name, which is its runtime's. */
export const LOGIN_COMMANDS: Readonly<Record<string, string | undefined>> = {
  claude: 'claude auth login',
  codex: 'codex login',
};

/** Runtimes that never say what a turn cost: a limit in USD does not see their turns. */
export const TELL_NO_COST: ReadonlySet<string> = new Set<RuntimeName>(['codex']);
