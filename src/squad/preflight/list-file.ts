import { resolve } from 'node:path';
import type { Host } from '../../engine/compose.ts';
import { badInput } from '../../model/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Problem } from '../../text/problem.ts';
import { LIST_EXAMPLE } from './list-choice.ts';
import { lineOf, orThrow, problemError, readText, SETTINGS_FILE } from './read-input.ts';
import { parseNamed, type Registered, type SettingsRead } from './read-settings.ts';

const KEYS = ['playbook', 'agents'];

/** Whether a person named a playbook by the file that has its list of stages. */
export function isListFile(playbook: string | undefined): playbook is string {
  return playbook !== undefined && /[/\\]|\.ya?ml$/i.test(playbook);
}

/** The settings with the list, and the agents if it has any, of a file that a person named. Throws `bad-input` for what is no list. */
export async function withListFile(
  read: SettingsRead,
  given: string | undefined,
  registered: Registered,
  { workingDirectory }: Pick<Host, 'workingDirectory'>,
): Promise<SettingsRead> {
  if (!isListFile(given)) return read;
  const file = plainLine(given, 300);
  const found = await readText(resolve(workingDirectory, given), file);
  if (found.type === 'absent') {
    throw badInput(
      `there is no file ${file} with a playbook`,
      'Name one with a list of stages; docs/stages.md has examples.',
    );
  }
  const { text, raw, settings } = parseNamed({ file, text: orThrow(found, file) }, registered, read);
  const problems = problemsOf(file, text, raw);
  if (problems.length > 0) throw problemError(problems, `Correct ${file}.`);
  const keys = KEYS.filter((key) => Object.hasOwn(raw, key));
  const own = { playbook: settings.playbook, ...(keys.includes('agents') ? { agents: settings.agents } : {}) };
  const { repository } = read;
  return {
    ...read,
    settings: { ...read.settings, ...own },
    raw: { ...read.raw, ...pick(raw, keys) },
    repository: {
      ...repository,
      raw: { ...repository.raw, ...pick(raw, keys) },
      settings: { ...repository.settings, ...own },
      list: { file, text, keys },
    },
  };
}

function pick(raw: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, raw[key]]));
}

function problemsOf(file: string, text: string, raw: Readonly<Record<string, unknown>>): Problem[] {
  const others = Object.keys(raw).filter((key) => ![...KEYS, 'version'].includes(key));
  const problems = others.map((key) => ({
    ...{ file, line: lineOf(text, key) },
    message: `${key}: a file that --playbook names has \`playbook\` and \`agents\`; other settings belong in ${SETTINGS_FILE}`,
  }));
  if (isJsonObject(raw['playbook'])) return problems;
  return [
    ...problems,
    { file, line: lineOf(text, 'playbook'), message: 'it has no list of stages', example: LIST_EXAMPLE },
  ];
}
