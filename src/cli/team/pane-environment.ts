import type { Settings } from '../../model/settings.ts';

/** Read by runtimes whatever the settings say. */
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
 * What runtimes may have of the environment of whoever opens a pane. A terminal that runs for days has an older one, or
 * none of it; and as it may hold keys, it goes by a ticket and never by a command line.
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
