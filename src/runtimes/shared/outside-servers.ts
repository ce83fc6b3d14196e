import { join } from 'node:path';
import type { McpServer } from '../../model/turn-request.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CliCommand } from './cli-adapter.ts';

/** The command of a program with the MCP servers of its turn outside of its cage. */
export interface WithServers extends Pick<CliCommand, 'binary' | 'args' | 'files'> {
  /** How the program reaches each server: by a command that copies between its own pipes and the server's. */
  readonly servers: readonly { readonly name: string; readonly command: string; readonly args: readonly string[] }[];
}

interface StdioServer extends McpServer {
  readonly transport: Extract<McpServer['transport'], { type: 'stdio' }>;
}

/**
 * Starts one server between two named pipes, then what follows it. $1: path without its ending; $2: the server's name; $3: number of
 * its words. Opening the pipes waits for the program, so a server that is never used never runs.
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

/** $0, $1: the server's pipes. Ends with the server; the server's input ends with that of the program. */
const COPY = 'exec 3<&0; cat <&3 >"$0" & exec cat "$1"';

/**
 * A server works for the agent and not in its place: the user has agreed to its command, and `squad mcp` writes the ledger, which no
 * agent may. So it runs outside of the cage, without the variables in `without`, and its own are in no file that outlives the turn.
 */
export function withServers(
  servers: readonly McpServer[],
  { binary, args }: Pick<CliCommand, 'binary' | 'args'>,
  { directory, without }: { readonly directory: string; readonly without: readonly string[] },
): WithServers {
  const numbered = servers.filter(isStdio).map((server, index) => ({ ...server, file: `mcp-${index}` }));
  const prefix = numbered.flatMap(({ name, file, transport: { command, args: words } }) => {
    const all = [command, ...words];
    return ['/bin/sh', '-c', START, 'sh', join(directory, file), name, String(all.length), ...all];
  });
  const [first = binary, ...rest] = [...prefix, binary, ...args];
  return {
    binary: first,
    args: rest,
    files: numbered.map(({ file, transport: { env } }) => ({
      name: `${file}.env`,
      text: [
        ...without.map((name) => `unset ${name}\n`),
        ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`),
      ].join(''),
      secret: true,
    })),
    servers: numbered.map(({ name, file }) => {
      const pipe = join(directory, file);
      return { name, command: '/bin/sh', args: ['-c', COPY, `${pipe}.in`, `${pipe}.out`] };
    }),
  };
}

function isStdio(server: McpServer): server is StdioServer {
  return server.transport.type === 'stdio';
}

/** The servers that could not be started, as the shell of `withServers` has said. */
export function unstartedServers(stderr: string): string[] {
  return [...stderr.matchAll(/^squad: the MCP server ([a-z0-9_-]+) did not start \(\d+\)$/gm)].flatMap(
    ([, name]) => name ?? [],
  );
}
