import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Host } from '../../engine/compose.ts';
import { contentOf, type Content, type ContentFile } from '../../model/content.ts';
import { FOLDER } from '../../model/command-words.ts';
import { commandProblem, equip, namedFiles } from '../../model/equip.ts';
import type { SquadError } from '../../model/errors.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { BoundAgent } from '../../model/run.ts';
import type { AgentSettings } from '../../model/settings.ts';
import { findProgram, isExecutable } from '../../runtimes/shared/find-program.ts';
import { pathProblem } from '../../text/path-problem.ts';
import { defined } from '../../text/defined.ts';

import { pathText, type Path } from '../../text/explain-issue.ts';
import { placeIn } from '../../text/yaml-file.ts';
import { lineOf, problemError } from './read-input.ts';
import type { SettingsFile } from './read-settings.ts';
import { readFileBelow, readSkill } from './read-skill.ts';

export interface ArmoryPlace {
  readonly root: string;
  readonly host: Pick<Host, 'environment'>;
  readonly redactor: Redactor;
  readonly source: SettingsFile;
  /** The agents of the settings, in their order. */
  readonly agents: readonly AgentSettings[];
}

/** The equipment of agents, read from the machine before a run exists. */
export interface Armory {
  /** Throws `bad-input` for anything that an agent could not use. */
  bind(agent: AgentSettings): Promise<Equipment>;
  /** Everything that was read, once. */
  contents(): Content[];
  /** Files from which a secret was removed. */
  redacted(): string[];
  /** The error about a setting of an agent. */
  refusal(agent: string, at: Path, message: string): SquadError;
}

type Equipment = Pick<BoundAgent, 'effort' | 'deny' | 'skills' | 'mcp' | 'hooks' | 'env' | 'home' | 'ask' | 'files'>;

const MOST_OF_A_RUN = 64 * 1024 ** 2;

export function openArmory(place: ArmoryPlace): Armory {
  const contents = new Map<string, Content>();
  const redacted = new Set<string>();
  const refusal = createRefusal(place);
  const keep = (from: string, files: readonly ContentFile[]): string => {
    const clean = files.map((file) => {
      const bytes = withoutSecrets(file.bytes, place.redactor);
      if (bytes !== file.bytes) redacted.add(join(dirname(from), file.path));
      return { ...file, bytes };
    });
    const content = contentOf(clean);
    contents.set(content.hash, content);
    return content.hash;
  };
  return {
    refusal,
    contents: () => [...contents.values()],
    redacted: () => [...redacted],
    bind: async (agent) => {
      const refuse = (at: Path, message: string): SquadError => refusal(agent.name, at, message);
      const { effort, deny, mcp, hooks, env, home, ask } = agent;
      const skills = await bindSkills(agent, place.root, refuse, keep);
      const problem = commandProblem(agent);
      if (problem !== undefined) throw refuse(problem.at, problem.message);
      const files = await bindFiles(agent, place.root, refuse, keep);
      await refuseMissingPrograms(agent, place.host, refuse);
      const bound = defined({ effort, deny, skills, mcp, hooks, env, home, ask, files }) as Equipment;
      const sized = [...contents.values()].flatMap((content) => content.files.map(({ bytes }) => bytes.byteLength));
      if (sized.reduce((sum, size) => sum + size, 0) > MOST_OF_A_RUN) {
        throw refuse([], 'with its skills and files the run would keep more than 64 MiB');
      }
      const tried = equip(bound, { environment: place.host.environment, folderOf: (hash) => `/${hash}`, folder: '/' });
      if (tried.type === 'refused') throw refuse(tried.at, tried.message);
      return bound;
    },
  };
}

type Refuse = (at: Path, message: string) => SquadError;
type Keep = (from: string, files: readonly ContentFile[]) => string;

async function bindSkills(
  { skills }: AgentSettings,
  root: string,
  refuse: Refuse,
  keep: Keep,
): Promise<Equipment['skills']> {
  if (skills === undefined) return undefined;
  const bound: NonNullable<Equipment['skills']> = [];
  for (const [index, from] of skills.entries()) {
    const files = await readSkill(root, from, (why) => refuse(['skills', index], `${from} ${why}`));
    const name = basename(from);
    bound.push({
      name,
      hash: keep(
        from,
        files.map((file) => ({ ...file, path: `${name}/${file.path}` })),
      ),
      from,
    });
  }
  return bound;
}

/** The files of the repository that commands name. A word that names none is left as it is. */
async function bindFiles(agent: AgentSettings, root: string, refuse: Refuse, keep: Keep): Promise<Equipment['files']> {
  const bound: NonNullable<Equipment['files']> = [];
  for (const { path, must, at } of namedFiles(agent)) {
    const refuseFile = (why: string): SquadError => refuse(at, `${path} ${why}`);
    const read = await readWord(root, path, refuseFile);
    if (read === undefined && must) throw refuseFile(NO_FILE);
    if (read !== undefined) bound.push({ path, hash: keep(path, [{ ...read, path: basename(path) }]) });
  }
  return bound.length === 0 ? undefined : bound;
}

/** Elsewhere a relative path would name something in the folder that the command starts in. */
const NO_FILE = `is not a file of the repository, and the command starts in another folder: ${FOLDER} stands for the agent’s`;

async function readWord(
  root: string,
  path: string,
  refuse: (why: string) => SquadError,
): Promise<ContentFile | undefined> {
  if (pathProblem(path) !== undefined) return undefined;
  const found = await stat(join(root, path)).catch(() => undefined);
  return found?.isFile() === true ? readFileBelow(root, path, refuse) : undefined;
}

/** The runtime would only report that a server did not start. */
async function refuseMissingPrograms(
  { mcp = [] }: AgentSettings,
  { environment }: ArmoryPlace['host'],
  refuse: Refuse,
): Promise<void> {
  for (const [index, { command }] of mcp.entries()) {
    if (command === undefined) continue;
    const at = ['mcp', index, 'command'];
    if (command.startsWith(`${FOLDER}/`)) continue;
    if (isAbsolute(command) && !(await isExecutable(command))) throw refuse(at, `${command} is not a program`);
    if (!command.includes('/') && (await findProgram(environment['PATH'], command)) === undefined) {
      throw refuse(at, `${command} is not on PATH`);
    }
  }
}

function withoutSecrets(bytes: Uint8Array, redactor: Redactor): Uint8Array {
  if (!isUtf8(bytes)) return bytes;
  const text = Buffer.from(bytes).toString('utf8');
  const clean = redactor.text(text);
  return clean === text ? bytes : Buffer.from(clean);
}

function createRefusal({ source: { file, text }, agents }: ArmoryPlace): Armory['refusal'] {
  return (agent, at, message) => {
    const index = agents.findIndex(({ name }) => name === agent);
    const path = ['agents', index, ...at];
    const line = index < 0 ? lineOf(text, 'agents') : placeIn(text, path).line;
    const where = pathText(at);
    return problemError([{ file, line, message: `${agent}: ${where === '' ? '' : `${where}: `}${message}` }]);
  };
}
