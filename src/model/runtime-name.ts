/** The runtimes that come with squad. An application that embeds it registers more. */
export const BUILT_IN_RUNTIMES = ['claude', 'codex', 'scripted'] as const;

/** Plays a script instead of a model, so it takes part only where it is named. */
export const SCRIPTED = 'scripted';

/** Login commands by account. An account has its runtime's name. */
export const LOGIN_COMMANDS: Readonly<Record<string, string | undefined>> = {
  claude: 'claude auth login',
  codex: 'codex login',
};

/** Runtimes that never say what a turn cost: a limit in USD does not see their turns. */
export const REPORTS_NO_COST: ReadonlySet<string> = new Set(['codex']);
