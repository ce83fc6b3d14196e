import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import type { Composition, Host, RuntimeChoice } from '../compose.ts';
import { SquadError } from '../model/errors.ts';
import { defined } from '../text/defined.ts';
import { jsonSchema } from '../text/json.ts';
import { SCRIPTED } from '../model/runtime-name.ts';
import { unknownRuntime } from '../model/unknown-name.ts';
import type { AgentSettings, Settings } from '../model/settings.ts';
import type { Probe } from '../runtimes/port/agent-runtime.ts';
import { findProgram } from '../runtimes/shared/find-program.ts';
import { confine } from '../substrate/files/confine.ts';
import { lineOf, problemError, SETTINGS_FILE, type Registered } from './read-input.ts';

type Runtimes = Settings['runtimes'];

const SCRIPT = 'runtimes:\n  scripted: { config: { script: demo/script.json } }';

export function refuseUnknownRuntime(registered: Registered['runtimes'], name: string | undefined): void {
  if (name !== undefined && !Object.hasOwn(registered, name)) throw unknownRuntime(name, Object.keys(registered));
}

/** The settings of a runtime, in the form that `compose` takes. */
export function runtimeChoice(runtimes: Runtimes, name: string): RuntimeChoice {
  const { command, env, config } = runtimes[name] ?? {};
  return defined({ binary: command, allowEnvironment: env ?? [], config });
}

/** The settings with absolute paths, for a resume elsewhere. A program that is not found keeps its name. */
export async function resolveRuntimes(runtimes: Runtimes, root: string, host: Host): Promise<Runtimes> {
  const resolved: Runtimes = {};
  for (const [name, { command, config, ...rest }] of Object.entries(runtimes)) {
    const binary = command === undefined || command === name ? undefined : await locate(command, root, host);
    const isScript = config !== undefined && name === SCRIPTED;
    const located = isScript ? withScript(config, (script) => belowRoot(root, script)) : config;
    resolved[name] = defined({ ...rest, command: binary, config: located });
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

function withScript(config: Config, locateScript: (script: string) => string): Config {
  const { script } = config;
  return typeof script === 'string' ? { ...config, script: locateScript(script) } : config;
}

/** The script from the command line replaces the one in `squad.yaml`. */
export function withScriptedConfig(runtimes: Runtimes, config: unknown, workingDirectory: string): Runtimes {
  if (config === undefined) return runtimes;
  const given = z.record(z.string(), jsonSchema).parse(config);
  const located = withScript(given, (script) => resolve(workingDirectory, script));
  return { ...runtimes, [SCRIPTED]: { env: [], ...runtimes[SCRIPTED], config: located } };
}

/** Throws `bad-input` if the scripted runtime has no script that can be read. */
export async function refuseWithoutScript(runtimes: Runtimes, settingsText: string): Promise<void> {
  const script = runtimes[SCRIPTED]?.config?.['script'];
  const refuse = (why: string): SquadError => {
    const message = `runtimes.scripted.config.script ${why}`;
    const problem = { file: SETTINGS_FILE, line: lineOf(settingsText, /^runtimes\s*:/), message, example: SCRIPT };
    return problemError([problem], 'Write a script (docs/scripted.md) and name it there.');
  };
  if (typeof script !== 'string') throw refuse('is missing: the scripted runtime plays a script');
  try {
    await access(script, constants.R_OK);
    if ((await stat(script)).isFile()) return;
  } catch {
    // Absent or not readable: refused below.
  }
  throw refuse(`names ${script}, which is not a file that can be read`);
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
export async function findRuntimes(registered: readonly string[], probeOf: ProbeOf): Promise<string[]> {
  const agents = registered.filter((name) => name !== SCRIPTED);
  const probes = await Promise.all(agents.map(async (name) => ({ name, probe: await probeOf(name) })));
  const found = probes.filter(({ probe: { ok } }) => ok).map(({ name }) => name);
  if (found.length > 0) return found;
  throw new SquadError({
    code: 'wrong-environment',
    message: `no agent runtime can be used here: ${probes.map(({ name, probe: one }) => `${name}: ${whyNot(one)}`).join('; ')}`,
    next: 'Run `squad doctor`, which says what to do about each.',
  });
}

/** Throws if an agent's runtime cannot be used. A missing login alone is accepted if each of its agents has a stand-in. */
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
    if (onlyLogin && standIn !== undefined && standsIn(roster, name, standIn) && (await probeOf(standIn)).ok) continue;
    const agents = roster.filter(({ runtime }) => runtime === name).map((agent) => agent.name);
    const [problem] = found.problems;
    throw new SquadError({
      code: 'wrong-environment',
      message: `${agents.join(', ')} cannot work: ${name} cannot be used here: ${whyNot(found)}`,
      next: `${problem === undefined ? '' : `${capital(problem.next)}. `}\`squad doctor\` has the details.`,
    });
  }
}

function standsIn(roster: readonly AgentSettings[], absent: string, standIn: string): boolean {
  return roster
    .filter(({ runtime }) => runtime === absent)
    .every(({ role }) => roster.some((other) => other.runtime === standIn && other.role === role));
}

function whyNot({ problems }: Probe): string {
  return problems.map(({ text }) => text).join('; ') || 'its probe failed';
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
