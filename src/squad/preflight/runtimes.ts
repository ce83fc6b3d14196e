import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { runtimeChoice } from '../../engine/runtime-choice.ts';
import { SquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { DescribedRuntimes, RuntimeDescription } from '../../model/runtime-description.ts';
import { isRegistered } from '../../model/runtime-name.ts';
import { unknownRuntime } from '../../model/unknown-name.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import { findProgram } from '../../runtimes/shared/find-program.ts';
import { confine } from '../../substrate/system/files/confine.ts';
import { lineOf, problemError } from './read-input.ts';
import type { Registered, SettingsFile } from './read-settings.ts';

type Runtimes = Settings['runtimes'];

/** `known`: by their names. */
export function refuseUnknownRuntime(known: Readonly<Record<string, unknown>>, name: string | undefined): void {
  if (name !== undefined && !Object.hasOwn(known, name)) throw unknownRuntime(name, Object.keys(known));
}

/** Before the settings are read, which may name any agent. */
export function refuseUnregistered(registered: Registered['runtimes'], name: string | undefined): void {
  if (name !== undefined && !isRegistered(registered, name)) refuseUnknownRuntime(registered, name);
}

/** The settings with absolute paths, for a resume elsewhere. A program that is not found keeps its name. */
export async function resolveRuntimes(
  runtimes: Runtimes,
  described: DescribedRuntimes,
  root: string,
  host: Host,
): Promise<Runtimes> {
  const resolved: Runtimes = {};
  for (const [name, { command, config, ...rest }] of Object.entries(runtimes)) {
    const binary = command === undefined || command === name ? undefined : await locate(command, root, host);
    const files = Object.keys(described[name]?.configFiles ?? {});
    resolved[name] = defined({ ...rest, command: binary, config: config && withFiles(config, files, root) });
  }
  return resolved;
}

type Config = NonNullable<Runtimes[string]['config']>;

async function locate(command: string, root: string, host: Host): Promise<string> {
  if (isAbsolute(command)) return command;
  if (command.includes('/')) return belowRoot(root, command);
  return (await findProgram(host.environment['PATH'], command)) ?? command;
}

/** A relative path in the settings is relative to the repository and may not leave it. */
function belowRoot(root: string, path: string): string {
  return isAbsolute(path) ? path : confine(root, path.replace(/^(?:\.\/)+/, ''));
}

function withFiles(config: Config, keys: readonly string[], root: string): Config {
  const entries = Object.entries(config).map(([key, value]) =>
    keys.includes(key) && typeof value === 'string' ? [key, belowRoot(root, value)] : [key, value],
  );
  return Object.fromEntries(entries);
}

/** Throws `bad-input` if a file that the runtime's config has to name cannot be read. */
export async function refuseWithoutFiles(
  name: string,
  { configFiles = {} }: RuntimeDescription,
  runtimes: Runtimes,
  { file, text }: SettingsFile,
): Promise<void> {
  for (const [key, next] of Object.entries(configFiles)) {
    const problem = await fileProblem(runtimes[name]?.config?.[key]);
    if (problem === undefined) continue;
    const line = lineOf(text, 'runtimes');
    const message = `runtimes.${name}.config.${key} ${problem}`;
    const example = `runtimes:\n  ${name}: { config: { ${key}: path/to/the/file } }`;
    throw problemError([{ file, line, message, example }], next);
  }
}

async function fileProblem(path: unknown): Promise<string | undefined> {
  if (typeof path !== 'string') return 'is missing: it names a file';
  try {
    await access(path, constants.R_OK);
    if ((await stat(path)).isFile()) return undefined;
  } catch {
    // Absent or not readable: refused below.
  }
  return `names ${path}, which is not a file that can be read`;
}

type ProbeOf = (name: string) => Promise<Probe>;

/** Probes each runtime once. */
export function createProbes(composition: Pick<Composition, 'runtime'>, runtimes: Runtimes): ProbeOf {
  const probes = new Map<string, Promise<Probe>>();
  return (name) => {
    const known = probes.get(name) ?? probe(composition, runtimes, name);
    probes.set(name, known);
    return known;
  };
}

async function probe(composition: Pick<Composition, 'runtime'>, runtimes: Runtimes, name: string): Promise<Probe> {
  const command = runtimes[name]?.command;
  if (command !== undefined && !isAbsolute(command)) {
    const text = `runtimes.${name}.command: ${command} is not on PATH`;
    const problems = [{ text, next: 'install it, or name its path' }];
    return { ok: false, login: 'unknown', sandbox: 'none', problems };
  }
  return composition.runtime(name, runtimeChoice(runtimes, name)).probe();
}

/** The agent runtimes that can be used here, in order of preference; throws `wrong-environment` when there is none. */
export async function findRuntimes(described: DescribedRuntimes, probeOf: ProbeOf): Promise<string[]> {
  const agents = Object.keys(described).filter((name) => described[name]?.onlyByName !== true);
  const probes = await Promise.all(agents.map(async (name) => ({ name, probe: await probeOf(name) })));
  const found = probes.filter(({ probe: { ok } }) => ok).map(({ name }) => name);
  if (found.length > 0) return found;
  throw new SquadError({
    code: 'wrong-environment',
    message: `no agent runtime can be used here: ${probes.map(({ name, probe: one }) => `${name}: ${whyNot(one)}`).join('; ')}`,
    next: 'Run `squad doctor`, which says what to do about each.',
  });
}

/** Throws if an agent's runtime cannot be used. A missing login alone is accepted if another runtime stands in for it. */
export async function refuseUnusable(
  roster: readonly AgentSettings[],
  runtimes: Runtimes,
  probeOf: ProbeOf,
): Promise<void> {
  for (const name of new Set(roster.map(({ runtime }) => runtime))) {
    const found = await probeOf(name);
    if (found.ok) continue;
    const standIn = runtimes[name]?.fallback;
    const onlyLogin = found.login === 'missing' && found.problems.length === 1;
    if (onlyLogin && standIn !== undefined && (await probeOf(standIn)).ok) continue;
    const agents = roster.filter(({ runtime }) => runtime === name).map((agent) => agent.name);
    const [problem] = found.problems;
    throw new SquadError({
      code: 'wrong-environment',
      message: `${agents.join(', ')} cannot work: ${name} cannot be used here: ${whyNot(found)}`,
      next: `${problem === undefined ? '' : `${capital(problem.next)}. `}\`squad doctor\` has the details.`,
    });
  }
}

export function whyNot({ problems }: Probe): string {
  return problems.map(({ text }) => text).join('; ') || 'its probe failed';
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
