import { join } from 'node:path';
import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { platformPackages, programHere, type CliProgram } from '../shared/cli-program.ts';
import { findConfinement } from '../shared/confinement.ts';
import { attachedFiles } from '../shared/attached-files.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { readSkills } from '../shared/skills.ts';
import { command, NAME, type ClaudeFacts } from './command.ts';
import { begin, conclude, isTerminal, translate, type ClaudeState } from './translate.ts';

const KEYS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'];
const PASSED = [...KEYS, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', ...NETWORK_VARIABLES];
/** Variables of a Claude Code that squad runs in. They would change how the turn's own one works. */
const OF_A_PARENT =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_TMPDIR|AI_AGENT|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SSE_PORT|(?:CHILD|SESSION|MESSAGING|HOST)_\w+))$/;
const OTHER_LOGIN = /^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY))$/;

const PACKAGE = '@anthropic-ai/claude-code';

const CLAUDE: CliProgram = {
  name: NAME,
  from: { package: PACKAGE },
  description: { login: 'claude auth login', provider: 'anthropic', variables: ['ANTHROPIC_', 'CLAUDE_'] },
  // This adapter relies on flags, events and the sandbox of this version.
  floor: '2.1.300',
  tested: '2.1.328',
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
  // Its sandbox on Linux has socat carry the network.
  const confinement = () => findConfinement(settings, program.trial, ['socat']);
  return {
    name: NAME,
    description: program.description,
    lookUp: async (request, directory) => {
      const facts = await program.lookUp(request, directory);
      // In a new home the CLI makes this one in the first turn, and each turn names to the model what its shell may not read.
      const made = facts.homeIsDefault ? [] : [join(facts.home, '.claude.json')];
      return {
        ...facts,
        credentials: [...new Set([...made, ...facts.credentials])],
        scratchRoot: join(settings.stateDirectory, NAME, 'tmp'),
        sessionsRoot: join(settings.stateDirectory, NAME, 'sessions'),
        confinement: await confinement(),
        isRoot: settings.isRoot,
        skills: await readSkills(request.skills),
        attached: await attachedFiles(directory),
        notes: request.session === undefined ? await readNotes(request.workspace.path) : [],
      };
    },
    command,
    begin,
    translate,
    isTerminal,
    conclude,
    // On SIGINT claude ends the running tool and prints a result (0.1 to 1.6 s).
    network: program.network(NAME),
    ladder: signals(3000, 'SIGINT', 'SIGTERM', 'SIGKILL'),
    probe: () =>
      program.probe({
        // macOS has logins in its keychain, and cloud providers have them elsewhere.
        otherLogin: () => {
          const set = (name: string) => settings.environment[name] && OTHER_LOGIN.test(name);
          const elsewhere = settings.allowEnvironment.some(set) || settings.platform === 'darwin';
          return Promise.resolve(elsewhere ? 'unknown' : 'missing');
        },
        sandbox: async () => ({
          level: await confinement(),
          problem: {
            text: 'no OS sandbox for claude: access `edit` is confined by its permission rules only',
            next: 'install bubblewrap and socat, and allow user namespaces',
          },
        }),
      }),
  };
}

/** The native binary behind the link or script that npm installs, so that signals reach it. */
function nativeCandidates(path: string, { platform, architecture }: RuntimeSettings): string[] {
  const part = `claude-code-${platform}-${architecture}`;
  const packages = [part, `${part}-musl`].flatMap((name) => platformPackages(path, PACKAGE, name));
  return [...packages.map((folder) => join(folder, 'claude')), path];
}
