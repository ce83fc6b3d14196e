import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import { acpRuntime } from '../../model/runtime-name.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { programHere, type CliProgram } from '../shared/cli-program.ts';
import { createConfiner, probedConfinement } from '../shared/confine.ts';
import { existing } from '../shared/find-program.ts';
import { privateView } from '../shared/private-view.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { chosenSessionId } from '../shared/session.ts';
import { command, type AcpFacts } from './command.ts';
import { profileOf, readConfig, type Profile } from './profiles.ts';
import { isTerminated } from './schema.ts';
import { begin, conclude, translate, type AcpState } from './translate.ts';

const HOST = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './host/main.ts' : './acp-host.mjs', import.meta.url),
);
/** Keeps the host small; measured by `npm run bench`. */
const HOST_FLAGS = ['--max-semi-space-size=1', '--optimize-for-size'];

/** Drives an agent that speaks the Agent Client Protocol: a host and the agent per turn. `node` runs the host. */
export function createAcpAdapter(
  agent: string,
  settings: RuntimeSettings,
  { processes, node }: { readonly processes: Processes; readonly node: string },
): CliAdapter<AcpFacts, AcpState> {
  const name = acpRuntime(agent);
  const profile = profileOf(agent);
  const config = readConfig(settings.config);
  const { quirks, args = [], read = [] } = config;
  const program = programHere(programOf(name, profile), settings, processes);
  const confiner = createConfiner(settings, program.trial);
  /** One copy for all sessions, made before each turn if this version has none, as no cage lets it be written. */
  const unpack = async (binary: string): Promise<Readonly<Record<string, string>>> => {
    if (profile.unpacksTo === undefined) return {};
    const variable = { [profile.unpacksTo]: join(settings.stateDirectory, 'homes', name, 'unpacked') };
    const problem = await program.trial(binary, ['--version'], { env: { ...program.environment, ...variable } });
    return problem === undefined ? variable : {};
  };
  return {
    name,
    description: program.description,
    lookUp: async (request, directory) => {
      const { session, access, workspace } = request;
      const facts = await program.lookUp(request, directory);
      const programs = [facts.binary ?? '', settings.binary ?? ''];
      const copy = facts.binary === undefined ? {} : await unpack(facts.binary);
      return {
        ...facts,
        ...{ name, profile, config, host: [node, ...HOST_FLAGS, HOST] },
        // One home for each session: files that an agent leaves there must not reach another one.
        home: session?.home ?? join(settings.stateDirectory, 'homes', name, chosenSessionId(name, request.turnId)),
        confiner: access.level === 'full' ? undefined : await confiner(),
        view: await privateView({
          ...settings,
          ...{ directory, workspace: workspace.path, programs, args, read, own: Object.values(copy) },
        }),
        unpacked: copy,
        masked: await existing((profile.masks ?? []).map((file) => join(workspace.path, file))),
        notes: session === undefined && profile.readsNotes !== true ? await readNotes(workspace.path) : [],
      };
    },
    command,
    begin: (request) => begin(name, { ...profile.quirks, ...quirks }, request),
    translate,
    isTerminal: ({ end }) => end !== undefined && !isTerminated(end),
    conclude,
    // On SIGINT the host cancels the session.
    network: program.network(name),
    ladder: signals(3000, 'SIGINT', 'SIGTERM', 'SIGKILL'),
    // Starts no conversation: some programs would ask a person to log in.
    probe: () =>
      program.probe({
        otherLogin: () => {
          const isPassed = settings.allowEnvironment.some((variable) => settings.environment[variable]);
          return Promise.resolve(isPassed ? 'ok' : profile.keys.length === 0 ? 'unknown' : 'missing');
        },
        sandbox: async () => probedConfinement(name, await confiner(), config['allow-unconfined'] === true),
      }),
  };
}

/** It works where it is named, because dozens of agents may be there. */
function programOf(
  name: string,
  { command: program, install, keys, passes = [], reportsCost = false }: Profile,
): CliProgram {
  return {
    name: program === '' ? name : program,
    from: install === undefined ? undefined : { package: install },
    description: { onlyByName: true, reportsCost },
    home: { variable: 'HOME', folder: '', private: name },
    logins: [],
    keys: () => keys,
    passes: ({ allowEnvironment }) => [...NETWORK_VARIABLES, ...keys, ...passes, ...allowEnvironment],
    natives: (path) => [path],
  };
}
