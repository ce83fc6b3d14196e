import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openMachine, type Machine } from '../engine/machine.ts';
import { badInput, errorText, isSquadError, SquadError, usageError } from '../model/errors.ts';
import { errorCode } from '../model/storage-error.ts';
import { examplePrompt } from '../prompts/example.ts';
import { FACTS } from '../prompts/facts.ts';
import { isPromptName, ownBytes, PROMPT_NAMES } from '../prompts/read-change.ts';
import type { PromptName } from '../prompts/render.ts';
import { PROMPTS } from '../prompts/shipped.ts';
import { refuseLinks } from '../substrate/system/files/refuse-links.ts';
import { lineDiff } from '../text/line-diff.ts';
import { plainLine } from '../text/plain-text.ts';
import { problemText } from '../text/problem.ts';
import { writeYaml } from '../text/yaml-file.ts';
import { checkoutAt, type Place } from './open-workspace.ts';
import {
  findPrompts,
  hashOfPrompt,
  noSuchPrompt,
  PROMPTS_FOLDER,
  type FoundPrompt,
} from './preflight/changed-prompts.ts';

/** A text that agents get. */
export interface PromptSummary {
  /** `<role>/<occasion>`, such as `author/check-failed`. */
  readonly name: string;
  readonly role: string;
  /** When agents get it, in words. */
  readonly occasion: string;
  /** Bytes of its text without its facts, and how many they should be at most. */
  readonly bytes: number;
  readonly budget: number;
  /** Whether the repository has changed it. */
  readonly changed: boolean;
  /** The repository's own file below its top folder. null: it has none. */
  readonly file: string | null;
  /** Why that file cannot be used, with file and line: no run starts. */
  readonly problems: readonly string[];
}

/** A prompt whole. */
export interface ShownPrompt extends PromptSummary {
  /** As Mustache, from the file of the repository, or else squad's own. */
  readonly body: string;
  /** The facts that it may name. `data`: words of others, which squad puts between tags. */
  readonly facts: readonly { readonly name: string; readonly kind: 'line' | 'lines' | 'data' | 'own' }[];
  /** Stands for squad's own body. */
  readonly hash: string;
  /** The prompt with a placeholder for each fact. */
  readonly example: string;
}

/** How the repository's text of a prompt differs from squad's. */
export interface PromptDiff extends Pick<PromptSummary, 'name' | 'file' | 'changed'> {
  /** The lines of squad's and of the repository's body: with a blank those of both, with `-` squad's, with `+` the repository's. */
  readonly lines: readonly string[];
  /** Whether squad's own text is another one than when the file was ejected. null: the file does not say from which it is. */
  readonly hasMoved: boolean | null;
}

/** A prompt that is a file of the repository now. */
export interface EjectedPrompt {
  readonly name: string;
  /** Below the top folder of the repository. */
  readonly file: string;
  /** It was there before. */
  readonly replaced: boolean;
}

/** The texts that agents get, and those that the repository has in their place, in `squad/prompts`. */
export interface SquadPrompts {
  /** All prompts of squad, outside of a repository too. `problems`: why a run refuses files of the repository. */
  list(): Promise<{ readonly prompts: readonly PromptSummary[]; readonly problems: readonly string[] }>;
  /** Rejects with `usage` for a name that squad does not have. */
  show(name: string): Promise<ShownPrompt>;
  /** Writes squad's own text into the repository, to be changed there. Rejects if the file is there, unless it is forced. */
  eject(name: string, options?: { readonly force?: boolean | undefined }): Promise<EjectedPrompt>;
  /** How the repository's texts differ from squad's: all of them, or this one. */
  diff(name?: string): Promise<PromptDiff[]>;
}

/** Those of squad, as `<role>/<occasion>`. */
export function promptNames(): readonly string[] {
  return PROMPT_NAMES;
}

export function promptsAt({ host, composition }: Place<Machine>): SquadPrompts {
  const machine = (): Machine => composition ?? openMachine(host);
  const root = async (): Promise<string> => (await checkoutAt(machine(), host.workingDirectory)).root;
  const found = async (): Promise<FoundPrompt[]> => {
    try {
      return await findPrompts(await root());
    } catch (error) {
      // Outside of a repository all prompts are squad's.
      if (isSquadError(error)) return [];
      throw error;
    }
  };
  return {
    list: async () => {
      const files = await found();
      const problems = files.flatMap(({ read }) => (read.ok ? [] : read.problems.map(problemText)));
      return { prompts: PROMPT_NAMES.map((name) => summaryOf(name, files)), problems };
    },
    show: async (name) => shownOf(promptNamed(name), await found()),
    eject: async (name, { force = false } = {}) => eject(await root(), promptNamed(name), force),
    diff: async (name) => {
      const only = name === undefined ? PROMPT_NAMES : [promptNamed(name)];
      const files = await findPrompts(await root());
      return only.flatMap((one) => diffOf(one, files));
    },
  };
}

function promptNamed(given: string): PromptName {
  if (isPromptName(given)) return given;
  throw usageError(noSuchPrompt(plainLine(given, 80)), 'List them with `squad prompts`.');
}

function summaryOf(name: PromptName, files: readonly FoundPrompt[]): PromptSummary {
  const { role, occasion, budget, body: own } = PROMPTS[name];
  const found = files.find((one) => one.name === name);
  const read = found?.read;
  const { body } = read?.ok === true ? read.value : { body: own };
  return {
    ...{ name, role, occasion, bytes: ownBytes(body), budget },
    changed: read?.ok === false || body !== own,
    file: found?.file ?? null,
    problems: read?.ok === false ? read.problems.map(problemText) : [],
  };
}

function shownOf(name: PromptName, files: readonly FoundPrompt[]): ShownPrompt {
  const read = files.find((one) => one.name === name)?.read;
  const body = read?.ok === true ? read.value.body : PROMPTS[name].body;
  const facts = PROMPTS[name].needs.map((fact) => ({ name: fact, kind: FACTS[fact] }));
  return { ...summaryOf(name, files), body, facts, hash: hashOfPrompt(name), example: examplePrompt(name, body) };
}

const SIGNS = { same: ' ', old: '-', new: '+' } as const;

function diffOf(name: PromptName, files: readonly FoundPrompt[]): PromptDiff[] {
  const { file, changed } = summaryOf(name, files);
  const read = files.find((one) => one.name === name)?.read;
  if (read?.ok !== true) return [];
  const { body, from } = read.value;
  const lines = changed ? lineDiff(PROMPTS[name].body, body).map(({ is, text }) => `${SIGNS[is]}${text}`) : [];
  return [{ name, file, changed, lines, hasMoved: from === undefined ? null : from !== hashOfPrompt(name) }];
}

/** The file of a prompt as the repository gets it. */
export function promptFile(name: PromptName): string {
  const { role, occasion, needs, budget, body } = PROMPTS[name];
  const head = [
    `role: ${role}`,
    `occasion: ${writeYaml(occasion).trim()}`,
    `needs: [${needs.join(', ')}]`,
    `budget: ${budget}`,
    `from: "${hashOfPrompt(name)}"`,
  ];
  return `---\n${head.join('\n')}\n---\n${body}\n`;
}

async function eject(root: string, name: PromptName, force: boolean): Promise<EjectedPrompt> {
  const file = `${PROMPTS_FOLDER}/${name}.md`;
  const how = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const write = async (more: number): Promise<void> => {
    const opened = await open(join(root, file), how | more, 0o644);
    try {
      await opened.writeFile(promptFile(name));
    } finally {
      await opened.close();
    }
  };
  try {
    await refuseLinks(root, dirname(file), async (path) => mkdir(path));
  } catch (error) {
    throw badInput(`${file} cannot be written: ${errorText(error)}`, 'Make room for it, then run the command again.');
  }
  try {
    await write(constants.O_EXCL);
    return { name, file, replaced: false };
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw refusedWrite(file, error);
  }
  if (!force) {
    const next = `Compare it with \`squad prompts diff ${name.replace('/', ' ')}\`; --force replaces it.`;
    throw badInput(`${file} is there already, and nothing in it was changed`, next);
  }
  await write(constants.O_TRUNC).catch((error: unknown) => {
    throw refusedWrite(file, error);
  });
  return { name, file, replaced: true };
}

function refusedWrite(file: string, cause: unknown): SquadError {
  const next = 'Make room, or let your user write there.';
  return new SquadError({ code: 'storage-refused', message: `${file}: ${errorText(cause)}`, next, cause });
}
