import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { withPort } from '../../text/port-place.ts';
import { childEnvironment, portEnvironment } from '../../runtimes/shared/child-environment.ts';
import type { CliAdapter, RuntimeSettings, TurnFacts, Verdict } from '../../runtimes/shared/cli-adapter.ts';

/** The `runtime` of every attempt of kind `check`. */
export const CHECK_RUNTIME = 'check';

/** Output of a command that prints nothing: a turn without an answer counts as failed. */
const NO_OUTPUT = '(no output)';
const OUTPUT_BYTES = 4 * 1024;

/**
 * The command is a parameter of this fixed text, so only the inner shell reads it. Both outputs go to stderr through one
 * descriptor, which keeps their order and their end; stdout would be read as JSON lines.
 */
const BOTH_OUTPUTS_TO_STDERR = 'exec /bin/sh -c -- "$1" >&2';

/**
 * A command of the user or the repository as a turn: `prompt` is one line for `/bin/sh -c`, the one exception to the ban on
 * shells. Its stdin is empty. It passes if it exits with 0 by itself.
 */
export function createCheckAdapter(host: RuntimeSettings['environment']): CliAdapter<undefined, undefined> {
  return {
    name: CHECK_RUNTIME,
    lookUp: () => Promise.resolve(undefined),
    command: (request) => ({
      type: 'command',
      binary: '/bin/sh',
      args: ['-c', BOTH_OUTPUTS_TO_STDERR, 'sh', lineOf(request)],
      env: { ...environmentOf(host, request.environment), ...portEnvironment(request.workspace) },
      stdin: '',
      files: [],
      home: request.workspace.path,
      // A setup may install packages, and a `verify` may start containers.
      keepsUser: true,
      folders: [],
    }),
    begin: () => undefined,
    translate: (state) => ({ state, reports: [] }),
    isTerminal: () => false,
    conclude: (_state, facts) => concludeCheck(facts),
    ladder: [
      { signal: 'SIGTERM', waitMs: 3000 },
      { signal: 'SIGKILL', waitMs: 2000 },
    ],
    probe: () => Promise.resolve({ ok: true, binary: '/bin/sh', login: 'ok', sandbox: 'none', problems: [] }),
  };
}

function lineOf({ prompt, workspace: { port } }: TurnRequest): string {
  return port === undefined ? prompt : withPort(prompt, port);
}

/**
 * With `CI`, test runners and package managers ask nothing, and do not watch for changes. These reach their registry by what agents reach
 * their models by.
 */
function environmentOf(
  host: RuntimeSettings['environment'],
  variables: readonly string[] = [],
): Record<string, string> {
  return { CI: 'true', ...childEnvironment(host, [...NETWORK_VARIABLES, ...variables]) };
}

/**
 * `bad-output` with an exit status means that the command failed: a retry of the same would fail again. Without the status,
 * the command never ran.
 */
function concludeCheck({ ending, stderr, endedByHost }: TurnFacts): Verdict {
  const known = { text: outputOf(stderr), denials: [] };
  if (ending.type !== 'exited') {
    return { ...known, failure: { kind: 'crashed', message: `the command ${ending.type}`, mayHaveActed: true } };
  }
  if (ending.code === 0 && ending.endedBy === undefined && !endedByHost) return known;
  const message = ending.signal === null ? `exit ${ending.code}` : `ended by ${ending.signal}`;
  return { ...known, failure: { kind: 'bad-output', message, mayHaveActed: true } };
}

function outputOf(stderr: string): string {
  const bytes = Buffer.from(stderr);
  if (stderr.trim() === '') return NO_OUTPUT;
  if (bytes.length <= OUTPUT_BYTES) return stderr;
  // The cut may split a character.
  return `…${bytes
    .subarray(-OUTPUT_BYTES)
    .toString('utf8')
    .replace(/^\uFFFD+/, '')}`;
}
