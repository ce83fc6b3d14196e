import { evidenceKey, type JudgeEvidence, type LookUps } from '../../model/plan/judge-evidence.ts';
import type { Cited } from '../../model/plan/review.ts';
import type { NamedEvidence } from '../../rules/judge-evidence.ts';
import type { CitedFiles } from '../../rules/findings.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';

/** In a larger file each line counts. */
const MOST_READ = 8 * 1024 * 1024;

/** The lines of files in a commit. `none`: there is no such file. `many`: they were not counted. */
async function countLines(
  workspaces: Pick<Workspaces, 'readFileAt'>,
  commit: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, number | 'none' | 'many'>> {
  const counts = new Map<string, number | 'none' | 'many'>();
  for (const file of new Set(files)) {
    const content = await workspaces.readFileAt(commit, file, MOST_READ);
    counts.set(file, typeof content !== 'string' ? linesIn(content) : content === 'too-large' ? 'many' : 'none');
  }
  return counts;
}

function linesIn(content: Uint8Array): number {
  const ends = content.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
  return content.length === 0 || content.at(-1) === 10 ? ends : ends + 1;
}

/** The files that a review names, as its commit has them. A fault that does not end the engine leaves them unknown. */
export async function citeFiles(
  { workspaces, fault }: OperationPorts,
  { commit, bases, files }: CitedFiles,
): Promise<Cited> {
  try {
    const counts = [...(await countLines(workspaces, commit, files))];
    const changes = await Promise.all(bases.map(async (base) => workspaces.changedFiles(base, commit)));
    const isChanged = new Set(bases.length === 0 ? files : changes.flat().map(({ path }) => path));
    return Object.fromEntries(
      counts.flatMap(([file, count]) =>
        count === 'many' ? [] : [[file, { lines: count === 'none' ? null : count, changed: isChanged.has(file) }]],
      ),
    );
  } catch (error) {
    if (fault === undefined) throw error;
    await fault(error);
    return {};
  }
}

type Quoted = Extract<JudgeEvidence, { quote: string }>;
type Ran = Exclude<JudgeEvidence, Quoted>;

/** Looks for a judge's evidence in the commit that it judged and among the commands of its turns. A fault leaves all of it open. */
export async function lookUp(ports: OperationPorts, named: NamedEvidence): Promise<LookUps> {
  const { by, commit, evidence } = named;
  const quotes = evidence.flatMap((one): Quoted[] => ('quote' in one ? [one] : []));
  const commands = evidence.flatMap((one): Ran[] => ('command' in one ? [one] : []));
  try {
    const looked: LookUps = {};
    for (const [file, all] of Map.groupBy(quotes, (one) => one.file)) {
      const content = await ports.workspaces.readFileAt(commit, file, MOST_READ);
      const text = typeof content === 'string' ? undefined : plainLines(content);
      for (const one of all) {
        const line = text === undefined ? undefined : lineOf(one, text);
        const as = content === 'too-large' ? content : text === undefined ? 'no-file' : 'no-quote';
        looked[evidenceKey(by, one)] = line === undefined ? { as } : { as: 'quoted', line };
      }
    }
    const ran = commands.length === 0 ? undefined : commandsOf(ports, named);
    for (const one of commands) {
      const isSeen = ran?.seen.some((command) => command.includes(plainCommand(one.command).slice(0, MOST_COMPARED)));
      looked[evidenceKey(by, one)] = { as: isSeen === true ? 'ran' : ran?.isAll === true ? 'not-run' : 'not-told' };
    }
    return looked;
  } catch (error) {
    if (ports.fault === undefined) throw error;
    await ports.fault(error);
    return {};
  }
}

interface PlainLines {
  /** White space of any kind and length is one space. */
  readonly text: string;
  /** Where each line that is not blank begins in it, and its number. */
  readonly starts: readonly { readonly at: number; readonly line: number }[];
}

function plainLines(content: Uint8Array): PlainLines {
  const starts: { at: number; line: number }[] = [];
  const parts: string[] = [];
  let at = 0;
  for (const [index, line] of new TextDecoder().decode(content).split('\n').entries()) {
    const part = plainSpaces(line);
    if (part === '') continue;
    starts.push({ at, line: index + 1 });
    parts.push(part);
    at += part.length + 1;
  }
  return { text: parts.join(' '), starts };
}

function plainSpaces(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** More places of one quote say nothing more. */
const MOST_PLACES = 1_000;

/** The line in which the quote begins, next to the one that its judge names; undefined: it is not there. */
function lineOf({ quote, line: named }: Quoted, { text, starts }: PlainLines): number | undefined {
  const wanted = plainSpaces(quote);
  let nearest: number | undefined;
  let at = text.indexOf(wanted);
  for (let place = 0; at !== -1 && place < MOST_PLACES; place += 1) {
    const line = starts[lastBefore(starts, at)]?.line ?? 1;
    if (nearest === undefined || Math.abs(line - named) < Math.abs(nearest - named)) nearest = line;
    at = text.indexOf(wanted, at + 1);
  }
  return nearest;
}

function lastBefore(starts: PlainLines['starts'], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle]?.at ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** squad keeps the first 300 characters of a command. */
const MOST_COMPARED = 200;

/** The commands that the turns of this judge ran. `isAll`: all turns tell. */
function commandsOf({ ledger, lease }: OperationPorts, { task, by }: NamedEvidence) {
  const turns = ledger
    .attempts({ runId: lease.runId, taskId: task, status: 'settled' })
    .filter(({ kind, agent }) => kind === 'turn' && agent === by)
    .map(({ id }) => ledger.settlement(id)?.result.commands);
  const seen = turns.flatMap((commands) => commands ?? []).map(plainCommand);
  return { seen, isAll: turns.length > 0 && turns.every((commands) => commands !== undefined) };
}

/** Without what a shell inside of a shell needs. */
function plainCommand(command: string): string {
  return plainSpaces(command.replaceAll(/["'\\]/g, ''));
}
