import { fileURLToPath } from 'node:url';

/** Where and how a server or hook of an agent starts. */
export interface Apart {
  /** Absolute; it exists, and no agent can write there. Each start makes an empty folder in it. */
  readonly place: string;
  /** Where the agent works. */
  readonly folder: string;
  /** Set for the command; empty: it does not have the variable. */
  readonly variables: Readonly<Record<string, string>>;
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

// The build puts the script next to the bundle.
const LAUNCHER = fileURLToPath(new URL('./start-apart.sh', import.meta.url));

/** The command as it starts in an empty folder, whatever folder its parent is in. */
export function startApart({ place, folder, variables }: Apart, { command, args }: Command): Command {
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { command: '/bin/sh', args: [LAUNCHER, place, folder, ...given, '--', command, ...args] };
}
