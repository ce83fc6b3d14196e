import { assertNever } from '../model/assert-never.ts';
import type { EvidenceFacts, SideCommit } from '../model/plan/evidence.ts';
import type { Requirement } from '../model/plan/task.ts';
import { subjectProblem } from '../model/subject-policy.ts';
import { asObject, type Json } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { EVIDENCE } from './evidence-texts.ts';

export type EvidenceAnswer =
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly missing: readonly string[] };

/**
 * Whether the engine's findings show that the task is done. `judged`: it is reviewed or integrated, so it needs a commit.
 * `returned`: the commit that was sent back, which is no answer to its feedback.
 */
export function decideEvidence(
  owes: {
    readonly requires: readonly Requirement[];
    readonly judged: boolean;
    readonly returned: string | null;
    /** The structured answer of its author. Absent: it is not looked at. */
    readonly output?: Json | null;
  },
  facts: EvidenceFacts,
): EvidenceAnswer {
  if (facts.problem !== undefined) return { ok: false, missing: [facts.problem, ...sideOf(facts)] };
  const unusable = unusableIn(facts);
  const missing = [...unusable, ...owes.requires.flatMap((requirement) => missingOf(requirement, facts, owes.output))];
  const { altered = [] } = facts;
  if (altered.length > 0) missing.push(EVIDENCE.altered(listed(altered)));
  if (owes.judged && facts.commit === null && missing.length === 0) missing.push(EVIDENCE.nothing);
  if (owes.returned !== null && facts.commit === owes.returned) {
    missing.push(nothingSince(owes.returned));
  }
  if (missing.length === 0) return { ok: true, commit: facts.commit };
  // It may be what is missing.
  const unread = facts.unread === undefined ? [] : [EVIDENCE.unread(facts.unread)];
  return { ok: false, missing: [...missing, ...sideOf(facts), ...unread, ...ignoredOf(facts)] };
}

/** A commit that cannot be checked out, or not as it is: what else is missing follows from that. */
function unusableIn({ changedPaths, uncommitted }: EvidenceFacts): string[] {
  const refused = changedPaths.filter((path) => isRefusedPath(path));
  const long = uncommitted.filter((path) => isTooLong(path));
  const short = (paths: readonly string[]): string => listed(paths.map((path) => shortened(path)));
  return [
    ...(refused.length === 0 ? [] : [EVIDENCE.refusedPaths(short(refused))]),
    ...(long.length === 0 ? [] : [EVIDENCE.tooLong(short(long))]),
  ];
}

const MOST_SHOWN = 80;

function shortened(path: string): string {
  return path.length <= MOST_SHOWN ? path : `${path.slice(0, MOST_SHOWN).toWellFormed()}…`;
}

export function nothingSince(returned: string): string {
  return EVIDENCE.nothingSince(returned.slice(0, 12));
}

/** Most paths named that may not change. Their author has to take all of them back, or ask for them. */
const MOST_OUTSIDE = 50;
/** Most commits named that HEAD does not have. */
const MOST_NAMED = 5;

/** Problems of work beside HEAD. A commit that only a log names counts only if HEAD has none of its own. */
function sideOf({ side, commits }: EvidenceFacts): string[] {
  if (side === undefined) return [];
  const named = side.kept.filter(({ kind }) => kind !== 'log' || commits === 0);
  const stashes = named.filter(({ kind }) => kind === 'stash').length;
  const others = named.filter(({ kind }) => kind !== 'stash');
  return [
    ...(stashes === 0 ? [] : [EVIDENCE.stashed(stashes)]),
    ...others.slice(0, MOST_NAMED).map((one) => EVIDENCE.aside(sideText(one))),
    ...(others.length > MOST_NAMED ? [EVIDENCE.moreAside(others.length - MOST_NAMED)] : []),
    ...(side.missed === undefined ? [] : [EVIDENCE.notKept(side.missed)]),
  ];
}

function sideText({ kind, name, commit }: SideCommit): string {
  const short = commit.slice(0, 12);
  switch (kind) {
    case 'branch':
      return EVIDENCE.onBranch(name);
    case 'tag':
      return EVIDENCE.tagged(name);
    case 'worktree':
      return EVIDENCE.inWorktree(short);
    case 'stash':
    case 'ref':
      return EVIDENCE.named(name, short);
    case 'log':
      return EVIDENCE.inLog(short);
    default:
      return assertNever(kind);
  }
}

function ignoredOf({ ignored }: EvidenceFacts): string[] {
  if (ignored === undefined) return [];
  const { paths, more } = ignored;
  const shown = paths.slice(0, 5);
  const said = shown.map(({ path, by }) => EVIDENCE.ignored(path, by, `\`git add -f ${quoted(path)}\``));
  const rest = paths.length - shown.length + more;
  return rest === 0 ? said : [...said, EVIDENCE.moreIgnored(rest)];
}

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) && !path.startsWith('-')
    ? path
    : `-- '${path.replaceAll("'", String.raw`'\''`)}'`;
}

function missingOf(requirement: Requirement, facts: EvidenceFacts, output: Json | undefined): string[] {
  switch (requirement.kind) {
    case 'commit': {
      if (facts.commits === 0) return [hasOthers(facts) ? EVIDENCE.noCommitAtHead : EVIDENCE.noCommit];
      const left = facts.uncommitted.filter((path) => !isTooLong(path));
      return left.length === 0 ? [] : [EVIDENCE.uncommitted(listed(left))];
    }
    case 'diff': {
      if (facts.changedPaths.length === 0) return [hasOthers(facts) ? EVIDENCE.noChangeAtHead : EVIDENCE.noFile];
      const paths = requirement.paths;
      if (paths === undefined || facts.changedPaths.some((path) => paths.some((folder) => isWithin(path, folder)))) {
        return [];
      }
      return [EVIDENCE.nothingIn(listed(paths))];
    }
    case 'only': {
      const { paths } = requirement;
      const others = facts.changedPaths.filter((path) => !paths.some((one) => isOneOf(path, one)));
      return others.length === 0 ? [] : [EVIDENCE.outside(paths.join(EVIDENCE.and), listed(others, MOST_OUTSIDE))];
    }
    case 'untouched': {
      const { paths, instead } = requirement;
      const folded = paths.map((path) => path.toLowerCase());
      const changed = facts.changedPaths.filter((path) => folded.some((own) => isWithin(path.toLowerCase(), own)));
      return changed.length === 0 ? [] : [EVIDENCE.touched(listed(changed), instead)];
    }
    case 'file':
      return facts.files.includes(requirement.path) ? [] : [EVIDENCE.absent(requirement.path)];
    case 'document':
      return documentProblems(requirement.path, facts);
    case 'absent':
      return facts.files.includes(requirement.path) ? [EVIDENCE.present(requirement.path)] : [];
    case 'command': {
      const ran = facts.commands.find((command) => command.run === requirement.run);
      if (ran === undefined) return [EVIDENCE.notRun(requirement.run)];
      if (requirement.ofCriterion === true && ran.cannotRun !== undefined) return [];
      return ran.passed ? [] : [EVIDENCE.fails(requirement.run, ran.output)];
    }
    case 'subject':
      return wrongSubjects(requirement, facts, output);
    case 'pr': {
      const { pr } = facts;
      if (pr === null) return [EVIDENCE.noPullRequest(facts.prProblem)];
      if (!pr.open) return [EVIDENCE.notOpen(pr.url)];
      return pr.commit === facts.commit ? [] : [EVIDENCE.otherCommit(pr.url, pr.commit, facts.commit)];
    }
    default:
      return assertNever(requirement);
  }
}

function wrongSubjects(
  { policy, said }: Extract<Requirement, { kind: 'subject' }>,
  { subjects = [] }: EvidenceFacts,
  output: Json | undefined,
): string[] {
  const named = said.reduce<unknown>((value, key) => asObject(value)[key], output);
  const isOther = typeof named === 'string' && subjects.length > 0 && !subjects.includes(named);
  return [
    ...subjects.flatMap((one) => {
      const problem = subjectProblem(one, policy);
      return problem === undefined ? [] : [EVIDENCE.subject(plainLine(one, MOST_SHOWN), problem)];
    }),
    ...(isOther ? [EVIDENCE.otherSubject(plainLine(named, MOST_SHOWN), plainLine(subjects[0] ?? '', MOST_SHOWN))] : []),
  ];
}

function hasOthers({ side }: EvidenceFacts): boolean {
  return side !== undefined && side.kept.length > 0;
}

function documentProblems(path: string, { documents = [] }: EvidenceFacts): string[] {
  const seen = documents.filter((one) => one.path === path);
  return seen.length === 0 ? [EVIDENCE.notRead(path)] : seen.flatMap(({ problems }) => problems);
}

/** As git has the paths: capitals matter. The two ways to write an accent do not, because no one can tell them apart. */
function isWithin(changed: string, folder: string): boolean {
  const path = changed.normalize('NFC');
  const prefix = folder.normalize('NFC').replace(/\/+$/, '');
  return prefix === '.' || path === prefix || path.startsWith(`${prefix}/`);
}

function isOneOf(path: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? path.endsWith(pattern.slice(1)) : isWithin(path, pattern);
}

function listed(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(EVIDENCE.and);
  return names.length > most ? EVIDENCE.more(shown, names.length - most) : shown;
}

/** Longest name and path that the usual disks take, in bytes. */
const MOST_NAME = 255;
const MOST_PATH = 4095;

/** Whether git refuses to check out each commit with this path, whatever its settings are. */
export function isRefusedPath(path: string): boolean {
  return path.split('/').some((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git');
}

/** Whether the usual disks have no place for this path. Some take more, so it says nothing of a file that is there. */
export function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > MOST_PATH || path.split('/').some((name) => Buffer.byteLength(name) > MOST_NAME);
}
