import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { RuntimeDescription } from '../../model/runtime-description.ts';
import { acpRuntime } from '../../model/runtime-name.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { defined } from '../../text/defined.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment, NETWORK_VARIABLES } from '../shared/child-environment.ts';
import { refuse, signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { findConfinement } from '../shared/confinement.ts';
import { findProgram, isExecutable } from '../shared/find-program.ts';
import { step } from '../shared/translation.ts';
import { profileOf, type Profile } from './profiles.ts';

/** It works where it is named, because dozens of agents may be there. Few say what a turn cost. */
const DESCRIPTION: RuntimeDescription = { onlyByName: true, reportsCost: false };

/** Drives an agent that speaks the Agent Client Protocol, one process per turn. */
export function createAcpAdapter(
  agent: string,
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<undefined, undefined> {
  const name = acpRuntime(agent);
  const profile = profileOf(agent);
  return {
    name,
    description: DESCRIPTION,
    lookUp: () => Promise.resolve(undefined),
    command: () => refuse('cli-unsupported', 'runtime', `${name} cannot take a turn in this version of squad`),
    begin: () => undefined,
    translate: (state) => step(state),
    isTerminal: () => false,
    conclude: () => ({ text: '', denials: [] }),
    ladder: signals(3000, 'SIGINT', 'SIGTERM', 'SIGKILL'),
    probe: () => probe(name, profile, settings, processes),
  };
}

async function findBinary(profile: Profile | undefined, settings: RuntimeSettings): Promise<string | undefined> {
  const named = settings.binary ?? profile?.command;
  const path =
    named === undefined || isAbsolute(named) ? named : await findProgram(settings.environment['PATH'], named);
  return path !== undefined && (await isExecutable(path)) ? realpath(path) : undefined;
}

const PROBE_MS = 15_000;

/** Looks for the program, its version, a key and the sandbox. Starts no conversation: a program may ask for a login then. */
async function probe(
  name: string,
  profile: Profile | undefined,
  settings: RuntimeSettings,
  processes: Processes,
): Promise<Probe> {
  const binary = await findBinary(profile, settings);
  if (binary === undefined) {
    const text = `${settings.binary ?? profile?.command ?? name} was not found`;
    const install = profile?.install === undefined ? '' : `install it with \`${profile.install}\`, or `;
    const problem = { text, next: `${install}name its path: \`runtimes: { ${name}: { command: … } }\`` };
    return { ok: false, login: 'unknown', sandbox: 'none', problems: [problem] };
  }
  const { keys = [], passes = [] } = profile ?? {};
  const env = childEnvironment(settings.environment, [...NETWORK_VARIABLES, ...passes]);
  const said = await processes.run(binary, ['--version'], { env, timeoutMs: PROBE_MS });
  const version = /\b\d+\.\d+\.\d+\b/.exec(said.stdout)?.[0];
  const known = [...keys, ...settings.allowEnvironment];
  const login = known.some((key) => settings.environment[key]) ? 'ok' : keys.length === 0 ? 'unknown' : 'missing';
  const trial = async (program: string, args: readonly string[]) =>
    (await processes.run(program, args, { env, timeoutMs: PROBE_MS })).code === 0 ? undefined : 'failed';
  const sandbox = (await findConfinement(settings, trial, [])) === 'os' ? 'os' : 'none';
  const problems = [
    ...(login === 'missing' ? [{ text: `${name} has no key`, next: `set ${keys.join(' or ')}` }] : []),
    ...(sandbox === 'none'
      ? [{ text: `nothing confines ${name} here`, next: 'install bubblewrap, and allow user namespaces' }]
      : []),
  ];
  return defined({ ok: problems.length === 0, version, binary, login, sandbox, problems });
}
