import type { Settings } from '../../model/settings.ts';

/** Variables that runtimes read even if the settings do not name them. */
const READ_BY_RUNTIMES = [
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
  ],
  ...['CODEX_API_KEY', 'CODEX_HOME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS'],
];

/**
 * The variables for runtimes from the environment that `squad team` is called with. A long-running tmux server has an older
 * environment or none of these. They may be keys, so they travel in a ticket and never on a command line.
 */
export function environmentOfRuntimes(
  environment: Readonly<Record<string, string | undefined>>,
  runtimes: Settings['runtimes'],
): Record<string, string> {
  const names = new Set([...READ_BY_RUNTIMES, ...Object.values(runtimes).flatMap(({ env }) => env)]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
