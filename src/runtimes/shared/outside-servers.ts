import { join } from 'node:path';
import type { McpServer } from '../../model/turn-request.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CliCommand, LaunchFile } from './cli-adapter.ts';
import type { Cause } from './turn-end.ts';

type Command = Pick<CliCommand, 'binary' | 'args'>;

/** The MCP servers of a turn that run outside of its agent's cage. */
export interface OutsideServers {
  readonly files: readonly LaunchFile[];
  /** The agent sees these files empty. */
  readonly masked: readonly string[];
  /** How the agent reaches each server: by a command that copies between its own pipes and the server's. */
  readonly servers: readonly { readonly name: string; readonly command: string; readonly args: readonly string[] }[];
  /** The command that starts the servers, and then the agent's. */
  before(agent: Command): Command;
}

interface StdioServer extends McpServer {
  readonly transport: Extract<McpServer['transport'], { type: 'stdio' }>;
}

/**
 * Starts one server between two named pipes, then what follows it. $1: path without its ending; $2: the server's name; $3: number of
 * its words. Opening the pipes waits for the agent, so a server that is never used never runs.
 */
const START = `in=$1.in out=$1.out env=$1.env name=$2 count=$3; shift 3
mkfifo -m 600 "$in" "$out"
(
  rest=$(($# - count))
  while [ "$count" -gt 0 ]; do set -- "$@" "$1"; shift; count=$((count - 1)); done
  shift "$rest"
  . "$env"
  "$@" <"$in" >"$out"
  status=$?
  case $status in 126 | 127) echo "squad: the MCP server $name did not start ($status)" >&2 ;; esac
) &
shift "$count"
exec "$@"`;

/** $0, $1: the server's pipes. Ends with the server; the server's input ends with that of the agent. */
const COPY = 'exec 3<&0; cat <&3 >"$0" & exec cat "$1"';

/**
 * A server works for the agent and not in its place: the user has agreed to its command, and `squad mcp` writes the ledger, which no
 * agent may. So it runs outside of the cage, without the variables in `without`, and its own are in no file that outlives the turn.
 */
export function outsideServers(
  mcp: readonly McpServer[],
  directory: string,
  without: readonly string[],
): OutsideServers {
  const servers = mcp.filter(isStdio).map((server, index) => ({ ...server, file: `mcp-${index}` }));
  const files = servers.map(({ file, transport: { env } }) => ({
    name: `${file}.env`,
    text: [
      ...without.map((name) => `unset ${name}\n`),
      ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`),
    ].join(''),
    secret: true,
  }));
  return {
    files,
    masked: files.map(({ name }) => join(directory, name)),
    servers: servers.map(({ name, file }) => {
      const pipe = join(directory, file);
      return { name, command: '/bin/sh', args: ['-c', COPY, `${pipe}.in`, `${pipe}.out`] };
    }),
    before: (agent) => {
      const starts = servers.flatMap(({ name, file, transport: { command, args } }) => {
        const words = [command, ...args];
        return ['/bin/sh', '-c', START, 'sh', join(directory, file), name, String(words.length), ...words];
      });
      const [binary = agent.binary, ...args] = [...starts, agent.binary, ...agent.args];
      return { binary, args };
    },
  };
}

function isStdio(server: McpServer): server is StdioServer {
  return server.transport.type === 'stdio';
}

const VARIABLE = /^[A-Za-z_]\w*$/;

/** A variable of a server that no shell can export; undefined: there is none. */
export function oddVariable(mcp: readonly McpServer[]): string | undefined {
  return mcp
    .filter(isStdio)
    .flatMap(({ transport }) => Object.keys(transport.env))
    .find((name) => !VARIABLE.test(name));
}

/** A server without which the turn was not to be, and which the shell could not start; undefined: there is none. */
export function unstarted(mcp: readonly McpServer[], stderr: string): Cause | undefined {
  const missing = new Set([...stderr.matchAll(UNSTARTED)].map(([, name]) => name));
  const server = mcp.find(({ name, required }) => required === true && missing.has(name));
  if (server === undefined) return undefined;
  return { kind: 'mcp-unavailable', setting: 'mcp', message: `the MCP server ${server.name} did not start: ${stderr}` };
}

const UNSTARTED = /^squad: the MCP server (\S{1,64}) did not start \(\d+\)$/gm;
