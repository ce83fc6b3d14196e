import { assertNever } from '../../model/assert-never.ts';
import type { EvidenceFacts, SideCommit } from '../../model/plan/evidence.ts';
import type { Requirement } from '../../model/plan/task.ts';

export type EvidenceAnswer =
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly missing: readonly string[] };

/**
 * Whether the engine's findings show that the task is done. `judged`: it is reviewed or integrated, so it needs a commit.
 * `returned`: the commit that was sent back, which is no answer to its feedback.
 */
export function decideEvidence(
  owes: { readonly requires: readonly Requirement[]; readonly judged: boolean; readonly returned: string | null },
  facts: EvidenceFacts,
): EvidenceAnswer {
  if (facts.problem !== undefined) return { ok: false, missing: [facts.problem, ...sideOf(facts)] };
  const missing = owes.requires.flatMap((requirement) => missingOf(requirement, facts));
  const { altered = [] } = facts;
  if (altered.length > 0) missing.push(`these files differ from the work that was handed over: ${listed(altered)}`);
  if (owes.judged && facts.commit === null && missing.length === 0) missing.push('nothing was changed');
  if (owes.returned !== null && facts.commit === owes.returned) {
    missing.push(nothingSince(owes.returned));
  }
  if (missing.length === 0) return { ok: true, commit: facts.commit };
  // It may be what is missing.
  const unread = facts.unread === undefined ? [] : [`the files in the folder cannot be read: ${facts.unread}`];
  return { ok: false, missing: [...missing, ...sideOf(facts), ...unread, ...ignoredOf(facts)] };
}

export function nothingSince(returned: string): string {
  return `nothing was changed since ${returned.slice(0, 12)} was sent back`;
}

/** So many paths are named that may not change: their author has to take all of them back, or ask for them. */
const MOST_OUTSIDE = 50;
/** So many commits that HEAD does not have are named. */
const MOST_NAMED = 5;

/** What HEAD lacks. A commit that only a log names counts for nothing where HEAD has others. */
function sideOf({ side, commits }: EvidenceFacts): string[] {
  if (side === undefined) return [];
  const named = side.kept.filter(({ kind }) => kind !== 'log' || commits === 0);
  const stashes = named.filter(({ kind }) => kind === 'stash').length;
  const others = named.filter(({ kind }) => kind !== 'stash');
  return [
    ...(stashes === 0
      ? []
      : [
          stashes === 1
            ? 'work is in a stash; HEAD does not have it'
            : `work is in ${stashes} stashes; HEAD does not have it`,
        ]),
    ...others.slice(0, MOST_NAMED).map((one) => `${sideText(one)}; HEAD does not have it`),
    ...(others.length > MOST_NAMED ? [`HEAD does not have ${others.length - MOST_NAMED} other commits either`] : []),
    ...(side.missed === undefined ? [] : [`squad does not keep ${side.missed}`]),
  ];
}

function sideText({ kind, name, commit }: SideCommit): string {
  switch (kind) {
    case 'branch':
      return `a commit was made on the branch \`${name}\``;
    case 'tag':
      return `the tag \`${name}\` names a commit`;
    case 'worktree':
      return `the commit ${commit.slice(0, 12)} was made in a worktree of the folder`;
    case 'stash':
    case 'ref':
      return `\`${name}\` names the commit ${commit.slice(0, 12)}`;
    case 'log':
      return `the commit ${commit.slice(0, 12)} was made, and no branch has it`;
    default:
      return assertNever(kind);
  }
}

function ignoredOf({ ignored }: EvidenceFacts): string[] {
  if (ignored === undefined) return [];
  const { paths, more } = ignored;
  const shown = paths.slice(0, 5);
  const said = shown.map(({ path, by }) => `${path} was written, but ${by} ignores it: \`git add -f ${quoted(path)}\``);
  const rest = paths.length - shown.length + more;
  return rest === 0 ? said : [...said, `${rest} more paths were written that git ignores`];
}

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) && !path.startsWith('-')
    ? path
    : `-- '${path.replaceAll("'", String.raw`'\''`)}'`;
}

function missingOf(requirement: Requirement, facts: EvidenceFacts): string[] {
  switch (requirement.kind) {
    case 'commit': {
      if (facts.commits === 0) return [hasOthers(facts) ? 'HEAD has no commit of this task' : 'no commit was made'];
      const left = facts.uncommitted;
      return left.length === 0 ? [] : [`changes are not committed: ${listed(left)}`];
    }
    case 'diff': {
      if (facts.changedPaths.length === 0) return [hasOthers(facts) ? 'HEAD has no change' : 'no file was changed'];
      const paths = requirement.paths;
      if (paths === undefined || facts.changedPaths.some((path) => paths.some((folder) => isWithin(path, folder)))) {
        return [];
      }
      return [`nothing was changed in ${listed(paths)}`];
    }
    case 'only': {
      const { paths } = requirement;
      const others = facts.changedPaths.filter((path) => !paths.some((one) => isOneOf(path, one)));
      return others.length === 0
        ? []
        : [`only ${paths.join(', ')} may change, but these files did: ${listed(others, MOST_OUTSIDE)}`];
    }
    case 'untouched': {
      const { paths, instead } = requirement;
      const folded = paths.map((path) => path.toLowerCase());
      const changed = facts.changedPaths.filter((path) => folded.some((own) => isWithin(path.toLowerCase(), own)));
      return changed.length === 0 ? [] : [`these files may not change: ${listed(changed)}; ${instead}`];
    }
    case 'file':
      return facts.files.includes(requirement.path) ? [] : [`${requirement.path} does not exist`];
    case 'document':
      return documentProblems(requirement.path, facts);
    case 'absent':
      return facts.files.includes(requirement.path) ? [`${requirement.path} still exists; remove it`] : [];
    case 'command': {
      const ran = facts.commands.find((command) => command.run === requirement.run);
      if (ran === undefined) return [`\`${requirement.run}\` was not run`];
      if (requirement.ofCriterion === true && ran.cannotRun !== undefined) return [];
      return ran.passed ? [] : [`\`${requirement.run}\` fails:\n${ran.output}`];
    }
    case 'pr': {
      const { pr } = facts;
      if (pr === null)
        return [`no pull request was opened${facts.prProblem === undefined ? '' : `: ${facts.prProblem}`}`];
      if (!pr.open) return [`${pr.url} is not open`];
      return pr.commit === facts.commit ? [] : [`${pr.url} is at ${pr.commit}, not at ${facts.commit ?? 'this work'}`];
    }
    default:
      return assertNever(requirement);
  }
}

function hasOthers({ side }: EvidenceFacts): boolean {
  return side !== undefined && side.kept.length > 0;
}

function documentProblems(path: string, { documents = [] }: EvidenceFacts): string[] {
  const seen = documents.filter((one) => one.path === path);
  return seen.length === 0 ? [`${path} was not read`] : seen.flatMap(({ problems }) => problems);
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
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
