import type { Finding } from '../../model/sprint/finding.ts';
import { backlogOf, requestStateOf, type Team } from '../../model/sprint/team.ts';
import { plainLine, shortText } from '../../text/plain-text.ts';
import { fingerprintOf } from './fingerprint.ts';

const MOST_TITLE = 200;
const MOST_DETAIL = 2_000;
/** For each source. Others are found once these are settled. */
const MOST_OF_SOURCE = 20;
/** A request that no planner has answered after so many reviews is no longer planned by itself. */
const MANY_REVIEWS = 3;

/** All that was looked at. What roles noted as insights is nowhere in it: that is for people. */
export interface Gathered {
  /** Runs that are over and have failed. */
  readonly failed: readonly { readonly run: string; readonly name: string; readonly headline: string }[];
  /** Paths of the checkout that differ from its commit, from its root. */
  readonly dirty: readonly string[];
  /** Lines of log files. */
  readonly logLines: readonly { readonly file: string; readonly line: string }[];
  /** Commands of `sprint.discovery` with what they printed. `problem`: how one failed. */
  readonly discovery: readonly { readonly command: string; readonly problem?: string; readonly output: string }[];
  /** Paths that blocked items name, and that are there. */
  readonly there: ReadonlySet<string>;
}

export interface Found extends Pick<Finding, 'source' | 'title' | 'detail'> {
  /** Its fingerprint. */
  readonly id: string;
}

/** All that a planner could make an item of, each once, those on record among them. The work of sprints is left out. */
export function findAll(team: Team, gathered: Gathered, folder?: string): Found[] {
  const all = [
    ...waitingRequests(team),
    ...failedRuns(team, gathered),
    ...dirtyPaths(gathered, folder),
    ...logLines(gathered),
    ...discovered(gathered),
    ...changedItems(team, gathered),
  ];
  const own = new Map(all.map((one) => [one.id, one]));
  const counts = new Map<string, number>();
  return [...own.values()].filter(({ source }) => {
    const count = (counts.get(source) ?? 0) + 1;
    counts.set(source, count);
    return count <= MOST_OF_SOURCE;
  });
}

/** Those that are not on record. */
export function newAmong({ finding }: Pick<Team, 'finding'>, found: readonly Found[]): readonly Found[] {
  return found.filter(({ id }) => !finding.has(id));
}

/** Ids of findings that no planner has had, the oldest first. */
export function openFindings({ finding, review }: Pick<Team, 'finding' | 'review'>): string[] {
  const seen = new Set([...review.values()].flatMap(({ findings }) => findings));
  return [...finding].filter(([id, { settled }]) => settled === undefined && !seen.has(id)).map(([id]) => id);
}

function found(source: Finding['source'], key: string, title: string, detail: string): Found {
  const id = `f-${fingerprintOf(`${source}\n${key}`).slice(0, 12)}`;
  return { id, source, title: plainLine(title, MOST_TITLE), detail: shortText(detail, MOST_DETAIL) };
}

function waitingRequests(team: Team): Found[] {
  const reviews = [...team.review.values()].flatMap(({ requests }) => requests);
  return [...team.request].flatMap(([id, { text, by }]) => {
    const often = reviews.filter((one) => one === id).length;
    if (often < MANY_REVIEWS || requestStateOf(team, id, () => true) !== 'received') return [];
    return [found('request', id, `${id} has no answer of a planner: ${text}`, `from ${by}:\n${text}`)];
  });
}

function failedRuns({ sprint, review }: Team, { failed }: Gathered): Found[] {
  const own = new Set([...sprint.values(), ...review.values()].map(({ run }) => run));
  return failed
    .filter(({ run }) => !own.has(run))
    .map(({ run, name, headline }) =>
      found('failed-result', `${run} ${headline}`, `the run ${name} has failed`, headline),
    );
}

/** One for each folder at the root, so that a person who edits there is not found again and again. */
function dirtyPaths({ dirty }: Gathered, folder: string | undefined): Found[] {
  const own = folder === undefined ? [] : [`${folder.replace(/\/+$/, '')}/`];
  const tops = new Map<string, string[]>();
  for (const path of dirty) {
    // A folder that git does not know is one path: that of the team may be in it.
    if (
      own.some(
        (one) => path === one.slice(0, -1) || path.startsWith(one) || (path.endsWith('/') && one.startsWith(path)),
      )
    )
      continue;
    const [top = path] = path.split('/');
    tops.set(top, [...(tops.get(top) ?? []), path]);
  }
  return [...tops].map(([top, paths]) =>
    found('dirty-path', top, `${top} has changes that no commit has`, paths.join('\n')),
  );
}

/** Lines that squad itself writes about the turns of a sprint, with the titles of its todos. */
const OWN_LINE = /^\[squad\] |^\S+ turn_(?:start|end) /;
const MATTERS = /\bTraceback\b|\bERROR\b/;
/** Words with a digit differ each time that the same happens: times, numbers, addresses, ids. */
const VARIES = /\S*\d\S*/g;

function logLines({ logLines: lines }: Gathered): Found[] {
  return lines
    .filter(({ line }) => MATTERS.test(line) && !OWN_LINE.test(line))
    .map(({ file, line }) => {
      const name = file.split('/').at(-1) ?? file;
      return found('log', `${name} ${line.replaceAll(VARIES, '#')}`, `${name}: ${line}`, line);
    });
}

function discovered({ discovery }: Gathered): Found[] {
  return discovery.flatMap(({ command, problem, output }) => {
    if (problem !== undefined) return [found('discovery', command, `\`${command}\` fails: ${problem}`, output)];
    const lines = output.split('\n').map((line) => line.trim());
    return lines
      .filter((line) => line !== '')
      .map((line) => found('discovery', `${command}\n${line}`, line, `${line}\n(printed by \`${command}\`)`));
  });
}

/** A blocked item that names another item that is done by now, or a path that is there by now. */
function changedItems(team: Team, { there }: Gathered): Found[] {
  const all = backlogOf(team);
  const done = new Set(all.filter(({ state }) => state === 'done').map(({ id }) => id));
  return all.flatMap((item) => {
    const { id, title, state } = item;
    if (state !== 'blocked') return [];
    const waitsFor = waitsOf(item);
    const came = waitsFor.filter((one) => (done.has(one) && one !== id) || there.has(one)).toSorted();
    if (came.length === 0) return [];
    const why = `it waits for ${came.join(', ')}, which is there now`;
    return [found('blocked-item', `${id} ${came.join(' ')}`, `${id} can be looked at again: ${title}`, why)];
  });
}

type Waits = Pick<ReturnType<typeof backlogOf>[number], 'required_inputs' | 'recommended_next_step' | 'blocked_reason'>;

function waitsOf({
  required_inputs: inputs = [],
  recommended_next_step: step = '',
  blocked_reason: why = '',
}: Waits): string[] {
  return [
    ...new Set(
      [...inputs, step, why].flatMap((text) => text.split(/[\s"'`()<>,;]+/).map((word) => word.replace(/[.:]+$/, ''))),
    ),
  ];
}

/** Paths that blocked items name, which only the disk can say more about. */
export function namedPaths(team: Pick<Team, 'item' | 'itemState'>): string[] {
  const blocked = backlogOf(team).filter(({ state }) => state === 'blocked');
  const isPath = (word: string): boolean =>
    /^[\w.-]+(?:\/[\w.-]+)*$/.test(word) && /[./]/.test(word) && !word.includes('..');
  return [...new Set(blocked.flatMap(waitsOf).filter(isPath))].slice(0, 200);
}
