import { isSlug, LONGEST_SLUG, numbered, plainSlug } from '../../model/slug.ts';
import { cutBytes } from '../../text/cut-bytes.ts';
import { exactJson } from '../../text/exact-json.ts';
import { DEVICE } from '../../text/file-name.ts';
import { asObject, isJsonObject, type Json, objectsIn } from '../../text/json.ts';
import { rolesIn } from './check-cast.ts';
import { completedIn, SESSION_STATUSES } from './check-state.ts';
import { ANALYSIS_FILE, INDEX_FILE, MEMORY_FILE, rolePath, STATE_FILE } from './finding.ts';
import type { FileRead } from './folder-read.ts';
import type { Session, SessionRole, SessionStart, SessionTask } from './session.ts';

/** A role of such a name would be the coordinator, or look like the router. */
const OF_SQUAD = /^(?:main|router)$/;

/** Bytes of an artifact that a worker's prompt shows. */
const MOST_SHOWN = 16 * 1024;

type Files = ReadonlyMap<string, FileRead>;
type ValueOf = (file: string) => Json | undefined;

/** The session of a folder that has no problem. */
export function readSessionFiles(files: Files, valueOf: ValueOf): Session {
  const state = valueOf(STATE_FILE) ?? null;
  const analysis = valueOf(ANALYSIS_FILE) ?? null;
  const { session_id: id, team_name: team, task_description: description, status } = asObject(state);
  const roles = castOf(state, analysis, files);
  const tasks = tasksOf(analysis, new Map(roles.map(({ name, slug }) => [name, slug])));
  const slugs = new Map(tasks.map((task) => [task.id, task.slug]));
  return {
    id: textOf(id),
    team: textOf(team),
    description: textOf(description),
    status: SESSION_STATUSES.find((one) => one === status) ?? 'active',
    roles,
    tasks,
    completed: completedIn(state).flatMap((one) => slugs.get(one) ?? []),
    start: startOf(files, valueOf),
  };
}

/** Either file may leave out what need not be there. */
function castOf(state: Json, analysis: Json, files: Files): SessionRole[] {
  const planned = rolesIn(analysis);
  const cast = [...rolesIn(state)].map(([name, role]) => [name, { ...planned.get(name), ...role }] as const);
  const slugs = safeSlugs(cast.map(([name]) => name));
  return cast.map(([name, role], index) => {
    const { prefix, responsibility_type: responsibility, inner_loop: innerLoop } = role;
    const file = rolePath(name);
    return {
      name,
      slug: slugs[index] ?? name,
      prefix: textOf(prefix),
      responsibility: typeof responsibility === 'string' ? responsibility : null,
      innerLoop: innerLoop === true,
      file,
      text: textIn(files, file),
    };
  });
}

function tasksOf(analysis: Json, roles: ReadonlyMap<string, string>): SessionTask[] {
  const listed = objectsIn(asObject(analysis)['tasks']);
  const ids = listed.map(({ id }) => textOf(id));
  const slugs = safeSlugs(ids);
  const slugOf = new Map(ids.map((id, index) => [id, slugs[index] ?? id]));
  return listed.map(({ id, subject, owner, blockedBy }) => ({
    id: textOf(id),
    slug: slugOf.get(textOf(id)) ?? '',
    subject: textOf(subject),
    role: roles.get(textOf(owner)) ?? '',
    needs: Array.isArray(blockedBy) ? blockedBy.flatMap((need) => slugOf.get(textOf(need)) ?? []) : [],
  }));
}

/** The contents of the folder besides the plan. */
function startOf(files: Files, valueOf: ValueOf): SessionStart {
  const namesIn = (folder: string): string[] =>
    [...files.keys()].flatMap((file) => (file.startsWith(`${folder}/`) ? [file.slice(folder.length + 1)] : []));
  const memory = valueOf(MEMORY_FILE);
  const texts = [MEMORY_FILE, INDEX_FILE].flatMap((file) => {
    const text = textIn(files, file);
    return text === '' || exactJson(text) === undefined ? [] : [[file, text] as const];
  });
  return {
    state: textIn(files, STATE_FILE),
    memory: isJsonObject(memory) ? memory : {},
    wisdom: {
      learnings: textIn(files, 'wisdom/learnings.md'),
      decisions: textIn(files, 'wisdom/decisions.md'),
      issues: textIn(files, 'wisdom/issues.md'),
    },
    explorations: {
      index: valueOf(INDEX_FILE) ?? null,
      files: namesIn('explorations')
        .filter((name) => name.startsWith('explore-'))
        .map((name) => ({ name, text: textIn(files, `explorations/${name}`) })),
    },
    artifacts: namesIn('artifacts').map((name) => artifactOf(name, textIn(files, `artifacts/${name}`))),
    discussions: namesIn('discussions'),
    ...(texts.length === 0 ? {} : { texts: Object.fromEntries(texts) }),
    size: [...files.values()].reduce((sum, read) => sum + ('text' in read ? read.text.length : 0), 0),
    hashes: Object.fromEntries(
      [...files].flatMap(([file, read]) => ('text' in read && read.hash !== undefined ? [[file, read.hash]] : [])),
    ),
  };
}

function artifactOf(name: string, text: string): SessionStart['artifacts'][number] {
  return { name, ...cutBytes(text, MOST_SHOWN) };
}

function textIn(files: Files, file: string): string {
  const read = files.get(file);
  return read !== undefined && 'text' in read ? read.text : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * A safe name for each of these texts, each its own, whatever their length and letters. It follows from the texts and their order
 * alone. Linear in the texts.
 */
export function safeSlugs(texts: readonly string[]): string[] {
  // A text that is safe as it is keeps its own name, whatever stands before it.
  const taken = new Set(texts.filter(isPlain));
  const given = new Set<string>();
  const last = new Map<string, number>();
  return texts.map((text) => {
    if (isPlain(text) && !given.has(text)) {
      given.add(text);
      return text;
    }
    const stem = slugOf(text);
    let slug = stem;
    let number = last.get(stem) ?? 1;
    while (taken.has(slug)) {
      number += 1;
      slug = numbered(stem, number, cut);
    }
    last.set(stem, number);
    taken.add(slug);
    return slug;
  });
}

function isPlain(text: string): boolean {
  return isSlug(text) && !DEVICE.test(text) && !OF_SQUAD.test(text);
}

function slugOf(text: string): string {
  const plain = plainSlug(text.slice(0, LONGEST_SLUG * 4));
  const slug = cut(/^[a-z]/.test(plain) ? plain : `t-${plain}`, LONGEST_SLUG);
  return isPlain(slug) ? slug : `t-${slug}`.slice(0, LONGEST_SLUG);
}

function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/-+$/, '');
}
