import { basename, resolve } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { SINKS } from '../../engine/sinks/sinks.ts';
import { isSquadError, SquadError } from '../../model/errors.ts';
import type { Playbook } from '../../model/plan.ts';
import { folderOf, type JoinedRepository, nameOf, OTHERS, placeNamed, stepsOf } from '../../model/repositories.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { StageList } from '../../playbooks/stages/stage-list.ts';
import { optionsOf } from '../../playbooks/stages/stage-options.ts';
import { type ChangedPrompts, renderPrompt } from '../../prompts/render.ts';
import { inspectForWork } from '../../substrate/git/inspect-repository.ts';
import { entriesOf, joinCommits, type Part, withJoined } from '../../substrate/git/joined/joined.ts';
import type { RepositoryReport, RepositoryWarning } from '../../substrate/ports/workspaces.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

interface SeveralPorts extends Pick<Composition, 'git' | 'forge'> {
  readonly host: Host;
}

/** A run of several repositories, as far as it differs from one of the repository that it is started in. */
export interface Several {
  /** Its commands are those of all of them. */
  readonly read: SettingsRead;
  readonly repositories: NonNullable<RunDefinition['repositories']>;
  /**
   * The one that it is started in, at the commit with all of them, which is in none of them before the run begins; with the branches and
   * warnings of all.
   */
  readonly repository: RepositoryReport;
  /** Added to the instructions of each agent. */
  readonly instructions: string;
  /** Throws `wrong-environment` for one that could not be published. */
  admit(definition: RunDefinition): Promise<void>;
}

interface About {
  readonly playbook: Playbook<unknown>;
  readonly read: SettingsRead;
  readonly prompts?: ChangedPrompts | undefined;
  /** Throws without consent to all that the run does, and says whether remotes may be asked: a dry run asks none. */
  readonly mayFetch: () => Promise<boolean>;
}

type Listed = SettingsRead['settings']['repositories'][number];

interface Found {
  readonly listed: Listed;
  readonly name: string;
  readonly report: RepositoryReport;
}

/** Throws the first thing for which the repositories of the settings cannot be worked on together. Changes nothing in them. */
export async function severalOf(ports: SeveralPorts, home: RepositoryReport, about: About): Promise<Several> {
  const { read, prompts } = about;
  refuseUnsuited(about);
  const found = await findAll(ports, home, about);
  for (const one of found) refuseRepository(read, home, one);
  const parts = found.map(({ name, report }): Part => partOf(name, report));
  const own = partOf('', home);
  const base = await withJoined(ports.git, own, parts, async (joined) => {
    if ((await entriesOf(joined, home.head)).some(({ name }) => name === OTHERS)) {
      const why = `this repository has a ${OTHERS} itself, and the other ones get that place`;
      throw refusal(read, why, `Rename ${OTHERS} here, and commit that`);
    }
    return joinCommits(joined, own, parts);
  });
  const others = found.map(
    ({ name, listed: { role }, report: { root, head, branch } }): JoinedRepository =>
      defined({ name, role, root, base: head, branch }),
  );
  const lines = others.map(({ name, role }) => `${folderOf(name)}/: ${role}`);
  return {
    read: { ...read, settings: stepsOf(read.settings) },
    repositories: { home: home.head, others },
    repository: {
      ...{ ...home, head: base },
      runBranches: [...home.runBranches, ...found.flatMap(({ report }) => report.runBranches)],
      warnings: [...home.warnings, ...found.flatMap(warningsOf)],
    },
    instructions: renderPrompt(
      'squad/repositories',
      { home: plainLine(basename(home.root), 100), repositories: lines },
      prompts ?? {},
    ),
    admit: async (definition) => {
      if (optionsOf(definition)?.list.stages.some(asksForRequest) === true)
        throw refusal(read, 'a stage asks for a pull request of its own', 'Take `pr` out of its `requires`');
      for (const { report } of found) {
        const { root, head, branch } = report;
        const repository = defined({ root, base: head, branch });
        for (const { admit } of Object.values(SINKS)) await admit?.(ports.forge(report), { ...definition, repository });
      }
    },
  };
}

function warningsOf({ name, report }: Found): RepositoryWarning[] {
  return report.warnings.map((warning) => ({ ...warning, text: `${folderOf(name)}: ${warning.text}` }));
}

function asksForRequest({ requires = [] }: StageList['stages'][number]): boolean {
  return requires.some((one) => 'pr' in one);
}

function partOf(name: string, { commonDirectory, head }: RepositoryReport): Part {
  return { name, commonDirectory, commit: head };
}

/** Throws for a playbook and for settings that know one repository alone. */
function refuseUnsuited({ playbook, read }: About): void {
  const { sparse, publish } = read.settings;
  if (playbook.joinsRepositories !== true) {
    const why = `the playbook ${playbook.name} works on one repository`;
    throw refusal(read, why, 'Choose another one, such as `--playbook delivery`, or take `repositories` out');
  }
  if (sparse.length > 0)
    throw refusal(read, 'a run of several repositories cannot have `sparse` folders', 'Take one of the two out');
  if (publish?.follow !== undefined || publish?.merge !== undefined)
    throw refusal(read, 'squad does not follow several pull requests', 'Take `follow` and `merge` out of `publish`');
}

async function findAll(ports: SeveralPorts, home: RepositoryReport, about: About): Promise<Found[]> {
  const { read } = about;
  const found: Found[] = [];
  for (const listed of read.settings.repositories) {
    const report = await inspect(ports, home, listed, about);
    const before = [home, ...found.map((one) => one.report)].find(
      ({ commonDirectory }) => commonDirectory === report.commonDirectory,
    );
    if (before !== undefined) {
      const why = before === home ? 'this repository itself' : 'a repository that is in the list already';
      throw refusal(read, `${plainLine(placeNamed(listed), 200)} is ${why}`, 'Name each repository once');
    }
    // The schema has refused those without a name.
    found.push({ listed, name: nameOf(listed) ?? '', report });
  }
  return found;
}

async function inspect(
  ports: SeveralPorts,
  home: RepositoryReport,
  listed: Listed,
  { mayFetch }: About,
): Promise<RepositoryReport> {
  try {
    const { path, remote } = listed;
    if (remote === undefined) return await inspectForWork(ports.git, resolve(home.root, path ?? ''));
    const { cloneOf } = await import('./clones.ts');
    return await inspectForWork(ports.git, await cloneOf(ports, home, { url: remote, mayFetch: await mayFetch() }));
  } catch (error) {
    if (!isSquadError(error) || error.code === 'not-trusted') throw error;
    const { code, next } = error;
    const message = `repositories: ${plainLine(placeNamed(listed), 200)} cannot be worked on: ${error.message}`;
    throw new SquadError({ code, message, ...defined({ next }), cause: error });
  }
}

function refuseRepository(read: SettingsRead, home: RepositoryReport, { listed, report }: Found): void {
  const path = plainLine(placeNamed(listed), 200);
  const changes = report.warnings.find(({ about }) => about === 'tracked-changes');
  if (changes !== undefined) {
    const why = `${path} has uncommitted changes, which agents would not see: ${changes.text}`;
    throw refusal(read, why, 'Commit or stash them there');
  }
  const odd = [report, home].find(({ warnings }) => warnings.some(({ about }) => about === 'shallow'));
  if (odd !== undefined)
    throw refusal(read, `the clone ${plainLine(odd.root, 300)} is shallow`, 'Give `git fetch --unshallow` there');
  if (report.sparse || home.sparse)
    throw refusal(read, `${path} or this checkout is sparse`, 'Give `git sparse-checkout disable` there');
  if (report.head.length !== home.head.length)
    throw refusal(read, `${path} names its objects by another hash than this repository`, 'Take it out');
}

/** At the key of the settings. */
function refusal(read: SettingsRead, message: string, next: string): SquadError {
  const { file, text } = fileOf(read, 'repositories');
  const problem = { file, line: lineOf(text, 'repositories'), message: `repositories: ${message}` };
  return problemError([problem], `${next}, then run the command again.`);
}
