import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { type JsonRead, readJson } from '../../text/json-source.ts';
import { readPlan, requiredOfAnalysis } from './check-analysis.ts';
import { roleFileFindings, rolesIn, rolesThatDiffer } from './check-cast.ts';
import { graphFindings } from './check-graph.ts';
import { requiredOfState, soundState, unknownCompleted } from './check-state.ts';
import { ANALYSIS_FILE, type Finding, MEMORY_FILE, rolePath, shown, shownPath, STATE_FILE } from './finding.ts';
import type { FileRead, FolderRead, SessionCheck } from './folder-read.ts';
import { refuse } from './refusal.ts';
import { readSessionFiles } from './session-of.ts';
import { MOST_READ, MOST_READ_OF_ALL } from './knowledge-room.ts';
import { largestStateText } from './session-files.ts';
import type { Session } from './session.ts';

/** Judges a session folder. Linear in what was read. */
export function checkSession(read: FolderRead): SessionCheck {
  const { findings, sources } = judgeSession(read);
  const [first, ...more] = findings;
  if (first !== undefined) return refuse(read.folder, sources, [first, ...more]);
  const session = readSessionFiles(read.files, (file) => valueIn(sources, file));
  const finding = outgrown(session);
  return finding === undefined ? { ok: true, session } : refuse(read.folder, sources, [finding]);
}

interface JudgedSession {
  /** All that is wrong, in the order of the algorithm. */
  readonly findings: readonly Finding[];
  /** The files that are JSON, or should be. */
  readonly sources: ReadonlyMap<string, JsonRead>;
}

export function judgeSession(read: FolderRead): JudgedSession {
  const { folder, files, folders } = read;
  if (!folders.includes('')) {
    const message = `Session directory not found: ${shownPath(folder)}`;
    const finding: Finding = { file: '', at: 1, message, advice: 'make' };
    return { findings: [withWhy(finding, files.get(''))], sources: new Map() };
  }
  const sources = new Map<string, JsonRead>();
  for (const [file, found] of files) {
    if (file.endsWith('.json') && 'text' in found) sources.set(file, readJson(found.text));
  }
  const state = valueIn(sources, STATE_FILE);
  const analysis = valueIn(sources, ANALYSIS_FILE);
  const cast = castFindings(read, state);
  const twice = doubles(sources);
  const isAmbiguous = twice.some(({ file }) => file === ANALYSIS_FILE);
  const findings = [
    ...partlyRead(read),
    ...(state === undefined ? [unreadable(files, sources, STATE_FILE)] : requiredOfState(state)),
    ...(analysis === undefined ? [unreadable(files, sources, ANALYSIS_FILE)] : requiredOfAnalysis(analysis)),
    ...cast.required,
    ...twice,
    ...(state === undefined ? [] : soundState(state)),
    ...(analysis === undefined || isAmbiguous ? [] : planFindings(state, analysis)),
    ...cast.other,
    ...otherFiles(files, sources, state),
  ];
  return { findings, sources };
}

function valueIn(sources: ReadonlyMap<string, JsonRead>, file: string): Json | undefined {
  const source = sources.get(file);
  return source?.ok === true ? source.value : undefined;
}

/** Folders of which squad did not see all, so that what is said to be missing in them may be there. */
function partlyRead({ files, folders }: FolderRead): Finding[] {
  return ['', 'roles'].flatMap((file) => {
    const read = files.get(file);
    return read !== undefined && 'why' in read && folders.includes(file) ? [unusable(file, read)] : [];
  });
}

function unusable(file: string, { why, line = 1 }: Extract<FileRead, { why: string }>): Finding {
  const message = `Invalid session: ${file === '' ? 'the folder' : shown(file)} ${why}`;
  return { file, at: line, message, advice: 'correct' };
}

function withWhy(finding: Finding, read: FileRead | undefined): Finding {
  return read !== undefined && 'why' in read ? { ...finding, at: read.line ?? 1, detail: `it ${read.why}` } : finding;
}

/** A file that has to be JSON and is not there, or is none. */
function unreadable(
  files: ReadonlyMap<string, FileRead>,
  sources: ReadonlyMap<string, JsonRead>,
  file: string,
): Finding {
  const read = files.get(file);
  if (read === undefined) {
    const advice = file === STATE_FILE ? 'make-state' : 'resume';
    return { file, at: 1, message: `Invalid session: ${file} missing`, advice };
  }
  const source = sources.get(file);
  const corrupt: Finding = { file, at: 1, message: `Invalid session: ${file} corrupt`, advice: 'look' };
  return source?.ok === false ? { ...corrupt, at: source.line, detail: source.why } : withWhy(corrupt, read);
}

function castFindings({ files, folders }: FolderRead, state: Json | undefined): ReturnType<typeof roleFileFindings> {
  const say = (message: string): Finding => ({ file: 'roles', at: 1, message, advice: 'resume' });
  if (!folders.includes('roles'))
    return { required: [withWhy(say('Invalid session: roles/ directory missing'), files.get('roles'))], other: [] };
  if (![...files.keys()].some((file) => file.startsWith('roles/') && file.endsWith('.md')))
    return { required: [say('Invalid session: no role files in roles/')], other: [] };
  return state === undefined ? { required: [], other: [] } : roleFileFindings(rolesIn(state).keys(), files);
}

/** How the tasks fit together, and to the roles and what is done. */
function planFindings(state: Json | undefined, analysis: Json): Finding[] {
  const plan = readPlan(analysis);
  const [acting, planned] = [castIn(state), castIn(analysis)];
  const cast = acting ?? planned;
  const known = new Set(plan.tasks.map(({ id }) => id));
  return [
    ...plan.findings,
    ...(acting === undefined || planned === undefined ? [] : rolesThatDiffer(acting, planned)),
    ...graphFindings(plan, cast === undefined ? undefined : new Set(cast.keys())),
    ...(state === undefined || known.size === 0 ? [] : unknownCompleted(state, known)),
  ];
}

/** The roles of a file, if each has a name of its own. */
function castIn(file: Json | undefined): ReturnType<typeof rolesIn> | undefined {
  const { roles } = asObject(file);
  const cast = rolesIn(file ?? null);
  return Array.isArray(roles) && roles.length > 0 && cast.size === roles.length ? cast : undefined;
}

/** A duplicate key is refused: programs differ in which of its values they read. */
function doubles(sources: ReadonlyMap<string, JsonRead>): Finding[] {
  return [...sources].flatMap(([file, source]) =>
    source.ok
      ? source.doubles.map(({ key, line }): Finding => {
          return { file, at: line, message: `${file} has a key twice: ${shown(key)}`, advice: 'correct' };
        })
      : [],
  );
}

/** Problems of the other files that squad reads and writes. */
function otherFiles(
  files: ReadonlyMap<string, FileRead>,
  sources: ReadonlyMap<string, JsonRead>,
  state: Json | undefined,
): Finding[] {
  const ofRoles = [...rolesIn(state ?? null).keys()].map(rolePath);
  const judged = new Set(['', STATE_FILE, ANALYSIS_FILE, 'roles', ...ofRoles]);
  return [...files].flatMap(([file, read]): Finding[] => {
    if (judged.has(file)) return [];
    if ('why' in read) return [unusable(file, read)];
    const source = sources.get(file);
    const corrupt: Finding = { file, at: 1, message: `Invalid session: ${shown(file)} corrupt`, advice: 'correct' };
    if (source?.ok === false) return [{ ...corrupt, at: source.line, detail: source.why }];
    const isNoObject = file === MEMORY_FILE && source?.ok === true && !isJsonObject(source.value);
    return isNoObject ? [{ ...corrupt, detail: 'it is not a JSON object' }] : [];
  });
}

/** Characters with which squad says in the files that all tasks share what it has left out. */
const MOST_NOTES = 4096;

/** A run that does all tasks must not make the folder larger than squad reads. Judges a session without another problem. */
function outgrown(session: Session): Finding | undefined {
  const { state, size = 0 } = session.start;
  const largest = largestStateText(session);
  const say = (file: string, message: string): Finding => {
    return { file, at: 1, message: `${message} when all tasks are done`, advice: 'correct' };
  };
  if (Buffer.byteLength(largest) > MOST_READ) return say(STATE_FILE, `${STATE_FILE} would exceed 1 MiB`);
  if (size + largest.length - state.length + MOST_NOTES <= MOST_READ_OF_ALL) return undefined;
  return say('', 'Invalid session: the folder would exceed the 32 MiB that squad reads of a session');
}
