import { join } from 'node:path';
import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import { sha256Of } from '../../model/sha256.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { programHere, type CliProgram } from '../shared/cli-program.ts';
import { createConfiner, probedConfinement } from '../shared/confine.ts';
import { privateView } from '../shared/private-view.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { command, configOf, GOOGLE_TERMS, KEY, NAME, type AntigravityFacts } from './command.ts';
import { begin, conclude, translate, type AntigravityState } from './translate.ts';

const AGY: CliProgram = {
  name: 'agy',
  from: { command: 'curl -fsSL https://antigravity.google/cli/install.sh | bash' },
  description: {
    experimental: true,
    onlyByName: true,
    reportsCost: false,
    provider: 'gcp.gemini',
    variables: ['GEMINI_', 'AGY_'],
  },
  floor: '1.3.0',
  home: { variable: 'HOME', folder: '', private: join('homes', NAME) },
  logins: [],
  keys: () => [KEY],
  passes: (settings) => [
    ...[KEY, ...NETWORK_VARIABLES, ...settings.allowEnvironment],
    // By these a keyring is found, and services that start programs outside of every cage.
    ...(usesLogin(settings) ? ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'] : []),
  ],
  natives: (path) => [path],
};

/** Drives Google's Antigravity CLI, one process per turn, by what others report of it: squad has not met the real one. */
export function createAntigravityAdapter(
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<AntigravityFacts, AntigravityState> {
  const program = programHere(AGY, settings, processes);
  const confiner = createConfiner(settings, program.trial);
  return {
    name: NAME,
    description: program.description,
    lookUp: async (request, directory) => {
      const { turnId, session, workspace, access } = request;
      const { binary = '', ...facts } = await program.lookUp(request, directory);
      const read = [...configOf(settings).read, ...(usesLogin(settings) ? ['/run/user'] : [])];
      const key = sha256Of(turnId).slice(0, 24);
      return {
        ...{ ...facts, binary: binary || undefined },
        // One home for each session: `agy` keeps settings and MCP servers there, and another agent needs others.
        home: session?.home ?? join(settings.stateDirectory, AGY.home.private, key),
        versionProblem: binary === '' ? undefined : await program.versionProblem(binary),
        confiner: access.level === 'full' ? undefined : await confiner(),
        view: await privateView({
          ...settings,
          ...{
            directory,
            workspace: workspace.path,
            programs: [binary, settings.binary ?? ''],
            args: [],
            read,
            own: [],
          },
        }),
        // It reads AGENTS.md by itself.
        notes:
          session === undefined ? (await readNotes(workspace.path)).filter(({ name }) => name !== 'AGENTS.md') : [],
        foreignServers: await exists(join(workspace.path, '.agents', 'mcp_config.json')),
      };
    },
    command,
    begin,
    translate,
    isTerminal: ({ result }) => result !== undefined,
    conclude,
    network: program.network(NAME),
    ladder: signals(3000, 'SIGINT', 'SIGKILL'),
    probe: () =>
      program.probe({
        notALogin: `a Google login does not count: ${GOOGLE_TERMS}`,
        otherLogin: () => Promise.resolve(usesLogin(settings) ? 'unknown' : 'missing'),
        sandbox: async () => probedConfinement(NAME, await confiner(), configOf(settings)['allow-unconfined']),
      }),
  };
}

function usesLogin(settings: RuntimeSettings): boolean {
  return !settings.environment[KEY] && configOf(settings)['allow-google-login'];
}
