import { join, sep } from 'node:path';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { CliAdapter, RuntimeSettings } from '../shared/cli-adapter.ts';
import { programHere, type CliProgram, type Trial } from '../shared/cli-program.ts';
import { findProgram } from '../shared/find-program.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { command, NAME, type ClaudeFacts } from './command.ts';
import { begin, conclude, isTerminal, translate, type ClaudeState } from './translate.ts';

const KEYS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'];
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PASSED = [...KEYS, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', ...NETWORK, 'NODE_EXTRA_CA_CERTS'];
/** Variables of a Claude Code that squad runs in. They would change how the turn's own one works. */
const OF_A_PARENT =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_TMPDIR|AI_AGENT|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SSE_PORT|(?:CHILD|SESSION|MESSAGING|HOST)_\w+))$/;
const OTHER_LOGIN = /^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY))$/;

const CLAUDE: CliProgram = {
  name: NAME,
  package: '@anthropic-ai/claude-code',
  // This adapter relies on flags, events and the sandbox of this version.
  floor: '2.1.328',
  home: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude', private: join(NAME, 'home') },
  logins: ['.credentials.json', '.claude.json', join('..', '.claude.json')],
  keys: () => KEYS,
  passes: ({ allowEnvironment }) => [...PASSED, ...allowEnvironment.filter((name) => !OF_A_PARENT.test(name))],
  natives: nativeCandidates,
};

/** Drives Claude Code, one process per turn. */
export function createClaudeAdapter(
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<ClaudeFacts, ClaudeState> {
  const program = programHere(CLAUDE, settings, processes);
  return {
    name: NAME,
    lookUp: async (request, directory) => {
      const facts = await program.lookUp(request, directory);
      const { variable, folder } = CLAUDE.home;
      return {
        ...facts,
        // For the default home the variable stays unset: on some systems setting it moves the login.
        homeIsDefault: facts.home === join(settings.userHome, folder) && !settings.environment[variable],
        scratchRoot: join(settings.stateDirectory, NAME, 'tmp'),
        confinement: await findConfinement(settings, program.trial),
        isRoot: settings.isRoot,
        notes: request.session === undefined ? await readNotes(request.workspace.path) : [],
      };
    },
    command,
    begin,
    translate,
    isTerminal,
    conclude,
    // On SIGINT claude ends the running tool and prints a result (0.1 to 1.6 s).
    ladder: [
      { signal: 'SIGINT', waitMs: 3000 },
      { signal: 'SIGTERM', waitMs: 3000 },
      { signal: 'SIGKILL', waitMs: 3000 },
    ],
    probe: () =>
      program.probe({
        loginProblem: {
          text: 'claude is not logged in',
          next: 'run `claude` once and log in, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN',
        },
        // macOS has logins in its keychain, and cloud providers have them elsewhere.
        otherLogin: () => {
          const set = (name: string) => settings.environment[name] && OTHER_LOGIN.test(name);
          const elsewhere = settings.allowEnvironment.some(set) || settings.platform === 'darwin';
          return Promise.resolve(elsewhere ? 'unknown' : 'missing');
        },
        sandbox: async () => {
          const level = await findConfinement(settings, program.trial);
          const text = 'no OS sandbox for claude: access `edit` is confined by its permission rules only';
          const next = 'install bubblewrap and socat, and allow user namespaces';
          return level === 'os' ? { level } : { level, problem: { text, next } };
        },
      }),
  };
}

/** On Linux the CLI's sandbox needs bubblewrap, socat and user namespaces. A trial of bubblewrap shows all but socat. */
async function findConfinement(settings: RuntimeSettings, trial: Trial): Promise<'os' | 'rules'> {
  if (settings.platform === 'darwin') return 'os';
  if (settings.platform !== 'linux') return 'rules';
  const path = settings.environment['PATH'];
  const bwrap = await findProgram(path, 'bwrap');
  if (bwrap === undefined || (await findProgram(path, 'socat')) === undefined) return 'rules';
  const args = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
  return (await trial(bwrap, args)) === undefined ? 'os' : 'rules';
}

/** The native binary behind the link or script that npm installs, so that signals reach it. */
function nativeCandidates(path: string, { platform, architecture }: RuntimeSettings): string[] {
  const [root = '', inside] = path.split(`${sep}@anthropic-ai${sep}`);
  const scope = join(root, '@anthropic-ai');
  const places = inside === undefined ? [] : [scope, join(scope, 'claude-code', 'node_modules', '@anthropic-ai')];
  const native = `claude-code-${platform}-${architecture}`;
  return [...places.flatMap((place) => [native, `${native}-musl`].map((name) => join(place, name, 'claude'))), path];
}
