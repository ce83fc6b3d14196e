import { childEnvironment } from '../runtimes/shared/child-environment.ts';
import type { CliAdapter, TurnFacts, Verdict, RuntimeSettings } from '../runtimes/shared/cli-adapter.ts';

/** The `runtime` of every attempt of kind `check`. */
export const CHECK_RUNTIME = 'check';

/** Never blank, because a turn without an answer is none: this stands for the output of a command that prints nothing. */
const NO_OUTPUT = '(no output)';
const OUTPUT_BYTES = 4 * 1024;

/**
 * Fixed text: the command is its parameter, so nothing of it is read before the inner shell reads all of it. Both outputs
 * go to one file by one descriptor. So they keep their order, and the shared part keeps their end whatever they hold; as
 * lines of stdout they would be taken for JSON, and for text only where they are none.
 */
const BOTH_OUTPUTS_TO_STDERR = 'exec /bin/sh -c -- "$1" >&2';

/**
 * A command of the user or the repository as a turn: `prompt` is one line for `/bin/sh -c`, the one stated exception to
 * the ban on shells. It gets an empty stdin. Its proof of success is exit 0, not ended by anybody else.
 */
export function createCheckAdapter(
  settings: Pick<RuntimeSettings, 'environment' | 'allowEnvironment'>,
): CliAdapter<undefined, undefined> {
  return {
    name: CHECK_RUNTIME,
    lookUp: () => Promise.resolve(undefined),
    command: (request) => ({
      type: 'command',
      binary: '/bin/sh',
      args: ['-c', BOTH_OUTPUTS_TO_STDERR, 'sh', request.prompt],
      env: environmentOf(settings),
      stdin: '',
      files: [],
      home: request.workspace.path,
      // A setup may install packages, a verification may start containers.
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

/** `CI` tells test runners and package managers that nobody watches: no watch mode, no question, no progress bar. */
function environmentOf({
  environment,
  allowEnvironment,
}: Pick<RuntimeSettings, 'environment' | 'allowEnvironment'>): Record<string, string> {
  return { CI: 'true', ...childEnvironment(environment, allowEnvironment) };
}

/**
 * `bad-output` with an exit status is this adapter's word for "the command says no": what was checked has to change, and
 * the same again would fail again. It is told from a command that never ran by the status.
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
  // The cut may have gone through a character.
  return `…${bytes
    .subarray(-OUTPUT_BYTES)
    .toString('utf8')
    .replace(/^\uFFFD+/, '')}`;
}
