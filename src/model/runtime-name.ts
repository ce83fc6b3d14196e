import type { DescribedRuntimes } from './runtime-description.ts';

/** The runtimes that come with squad, in order of preference. An application that embeds it registers more. */
export const BUILT_IN_RUNTIMES = ['claude', 'codex', 'scripted'] as const;

/** The runtimes of a run that began before runs kept what a runtime says of itself. */
export const DESCRIBED_LATER: DescribedRuntimes = {
  claude: { login: 'claude auth login' },
  codex: { login: 'codex login', reportsCost: false },
};
