import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { wrongEnvironment } from '../../model/errors.ts';
import type { KnownNames, Settings } from '../../model/settings.ts';
import { settingsSections } from '../../playbooks/registry.ts';
import { checkList } from '../../playbooks/stages/check-list.ts';
import { limitsWithoutConsent, mergeSettings } from '../settings/merge-settings.ts';
import {
  defaultSettings,
  parseSettings,
  rawSettings,
  withAgents,
  type RawSettings,
} from '../settings/parse-settings.ts';
import { orThrow, problemError, readConfined, readText, SETTINGS_FILE } from './read-input.ts';

/** The runtimes and playbooks that settings may name. */
export type Registered = Pick<Composition, 'runtimes' | 'describe' | 'playbooks'>;

/** A settings file, as it is named to people, with its text. */
export interface SettingsFile {
  readonly file: string;
  readonly text: string;
  /** The file of a playbook that a person named, which has these keys in place of this one. */
  readonly list?: { readonly file: string; readonly text: string; readonly keys: readonly string[] };
}

interface FileRead extends SettingsFile {
  /** The keys of the file, without defaults. */
  readonly raw: RawSettings;
  /** With defaults. */
  readonly settings: Settings;
}

/** The settings of a repository, and where they come from. */
export interface SettingsRead {
  /** The repository's over the user's own. Its limits are those that need no consent. */
  readonly settings: Settings;
  readonly raw: RawSettings;
  /** `squad.yaml`. Empty if there is none. */
  readonly repository: FileRead;
  /** The user's file for all repositories. undefined: there is none. */
  readonly own: FileRead | undefined;
}

/** `squad.yaml` of the repository, over the user's own file for all repositories. */
export async function readSettings(
  root: string,
  registered: Registered,
  host: Pick<Host, 'configHome'>,
): Promise<SettingsRead> {
  const known = knownNames(registered);
  const own = await readOwnSettings(registered, host);
  const repository = await readRepositoryFile(root, own === undefined ? known : withAgents(known, own.raw));
  if (own === undefined) {
    const settings = { ...repository.settings, limits: limitsWithoutConsent(undefined, repository.raw) };
    return { settings, raw: repository.raw, repository, own };
  }
  const { settings, raw } = mergeSettings(own.raw, repository.raw, known);
  return { settings, raw, repository, own };
}

/** Where a key at the top level is set; `squad.yaml` if nowhere. */
export function fileOf({ repository, own }: Pick<SettingsRead, 'repository' | 'own'>, key: string): SettingsFile {
  const isOwn = own !== undefined && Object.hasOwn(own.raw, key) && !Object.hasOwn(repository.raw, key);
  return isOwn ? own : sourceOf(repository, key);
}

/** Where a key of these settings stands. */
export function sourceOf(source: SettingsFile, key: string): SettingsFile {
  return source.list?.keys.includes(key) === true ? source.list : source;
}

function knownNames({ runtimes, describe, playbooks }: Registered): KnownNames {
  const names = Object.keys(runtimes);
  const files = names.map((name) => [name, Object.keys(describe(name).configFiles ?? {})]);
  return { runtimes: names, configFiles: Object.fromEntries(files), sections: settingsSections(playbooks), checkList };
}

async function readRepositoryFile(root: string, known: KnownNames): Promise<FileRead> {
  const read = await readConfined(root, SETTINGS_FILE);
  if (read.type !== 'absent') return parseFile({ file: SETTINGS_FILE, text: orThrow(read, SETTINGS_FILE) }, known);
  for (const file of ['squad.yml', '.squad.yaml', '.squad.yml']) {
    if ((await readConfined(root, file)).type !== 'absent') {
      throw misnamed(file, SETTINGS_FILE, `git mv ${file} ${SETTINGS_FILE}`);
    }
  }
  return { file: SETTINGS_FILE, text: '', raw: {}, settings: defaultSettings() };
}

/** The user's file for all repositories. undefined: there is none. */
export async function readOwnSettings(
  registered: Registered,
  { configHome }: Pick<Host, 'configHome'>,
): Promise<FileRead | undefined> {
  const path = join(configHome, 'squad', 'config.yaml');
  const read = await readText(path, path);
  if (read.type !== 'absent') {
    await refuseShared(path);
    return parseFile({ file: path, text: orThrow(read, path) }, knownNames(registered), 'own');
  }
  const other = join(configHome, 'squad', 'config.yml');
  if ((await readText(other, other)).type !== 'absent') throw misnamed(other, path, `mv ${other} ${path}`);
  return undefined;
}

/** Its commands run without a question. */
async function refuseShared(path: string): Promise<void> {
  if (((await stat(path)).mode & 0o022) === 0) return;
  throw wrongEnvironment(
    `${path} can be written by other users, and the commands in it run in all your repositories`,
    `Check it, then run \`chmod go-w ${path}\`.`,
  );
}

/** A file that a person named, which may name the runtimes of the settings. Throws `bad-input` for all that is wrong with it. */
export function parseNamed(source: SettingsFile, registered: Registered, { raw }: Pick<SettingsRead, 'raw'>): FileRead {
  return parseFile(source, withAgents(knownNames(registered), raw));
}

function parseFile(source: SettingsFile, known: KnownNames, whose: 'repository' | 'own' = 'repository'): FileRead {
  const parsed = parseSettings(source.text, source.file, known, whose);
  if (!parsed.ok) throw problemError(parsed.problems);
  return { ...source, raw: rawSettings(source.text), settings: parsed.value };
}

function misnamed(file: string, right: string, rename: string) {
  const message = `squad does not read this file; settings belong in ${right}`;
  return problemError([{ file, line: 1, message }], `Rename it: \`${rename}\`.`);
}
