import type { Composition, Host } from '../../engine/compose.ts';
import type { Playbook } from '../../model/plan.ts';
import { factsOf } from '../../rules/run-facts.ts';
import type { Content } from '../../model/content.ts';
import { STAGES } from '../../model/playbook-name.ts';
import type { Objective } from '../../model/objective.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { runDefinitionSchema, type RunDefinition } from '../../model/run.ts';
import { priorityWarnings, type PriorityWarning } from '../../model/priority.ts';
import type { Settings } from '../../model/settings.ts';
import { defined } from '../../text/defined.ts';
import { limitWarnings, type LimitWarning, type SomeLimits } from '../../model/limits.ts';
import { inspectForWork } from '../../substrate/git/inspect-repository.ts';
import type { RepositoryReport, RepositoryWarning } from '../../substrate/ports/workspaces.ts';
import { orderProblems } from '../../text/problem.ts';
import { optionsFor, refuseTries } from './playbook-choice.ts';
import { bindSquad } from './bind-squad.ts';
import { promptsOfRun, type PromptNote } from './changed-prompts.ts';
import { withListFile } from './list-file.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, readSettings, type SettingsRead } from './read-settings.ts';
import { doubtfulOf } from './doubtful.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { refuseSecretNames, refuseSecretSettings, secretWarnings, type SecretWarning } from './secrets.ts';
import type { Source, Subject } from './source.ts';
import { judgesOf } from './roles.ts';
import { objectiveOf, refusePassed, settingsOf } from './settings-of-run.ts';
import type { Several, severalOf } from './several.ts';
import { refuseReadOnly, refuseUnconfined } from './staffing.ts';
import { refuseLostRoutes } from './roster.ts';
import { nameRun, refuseBadName } from './run-name.ts';
import { SINKS } from '../../engine/sinks/sinks.ts';
import { describeRuntimes } from '../../engine/runtime-choice.ts';
import { refuseUnset } from './variables.ts';
import { refuseUnregistered } from './runtimes.ts';
import { refuseUnreusable } from './reused.ts';
import { refuseNoFolder } from './sparse.ts';
import { copiesOf, NO_COPIES, type Copies } from './copies.ts';
import { agree, consentTo, type TrustPorts } from './consent.ts';
import { limitsFor, limitsOfRun, type LimitNote } from './run-limits.ts';
import type { NewerNote } from './newer-notes.ts';
import type { StandInNote } from './stand-ins.ts';
import { itemsToTrust, ownCommands, type OwnCommands } from './trust.ts';
import type { TrustItem } from './trust-item.ts';

export interface PreflightPorts
  extends
    TrustPorts,
    Pick<Composition, 'git' | 'runtime' | 'runtimes' | 'describe' | 'playbooks' | 'forge' | 'redactor' | 'taskCage'> {
  readonly host: Host;
  /** Names of runs and of branches `squad/<name>` that are there already. */
  takenNames(repository: RepositoryReport): readonly string[] | Promise<readonly string[]>;
}

/** Choices for a new run, over those of the objective and of `squad.yaml`. */
export interface RunChoices {
  /** A branch, tag or commit that it begins from. Absent: the commit that is checked out. */
  readonly base?: string | undefined;
  /** Fetches the remote of `base` first, with the person's logins. */
  readonly fetch?: boolean | undefined;
  /** Its name, or the path of a file with a list of stages, from `cwd`. */
  readonly playbook?: string | undefined;
  /** With the playbook `best-of`: how many agents do the same work, 2 to 9. Absent: 3. */
  readonly tries?: number | undefined;
  /** Runs every agent on this runtime. */
  readonly runtime?: string | undefined;
  /** The runtime's own names of models, by agent or role, over those of the settings. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  /** Name of the run and of its branch `squad/<name>`. A taken one is refused. */
  readonly name?: string | undefined;
  /** Bodies of prompts in place of squad's, by name such as `builder/role`, over those of the repository. */
  readonly prompts?: Readonly<Record<string, string>> | undefined;
  /** Override the limits of the objective and of `squad.yaml`. */
  readonly limits?: SomeLimits | undefined;
  /** Agents whose settings say `access: full` may work without any confinement. */
  readonly allowFullAccess?: boolean | undefined;
  /**
   * `ask`: a person approves the plan before its tasks start. Absent: as `squad.yaml` says; otherwise `ask` if the run is
   * `attended` and `trust` is not `yes`, and the playbook does not say `byDefault: 'auto'`.
   */
  readonly plan?: RunDefinition['plan'] | undefined;
  /** The exit code is 1 if a criterion was not checked, or if a person skipped or overrode a task. */
  readonly strict?: boolean | undefined;
}

export interface PreflightRequest extends RunChoices {
  readonly source: Source;
  /** The playbook where neither the objective nor `squad.yaml` names one; absent: the default one. */
  readonly otherwise?: string | undefined;
  readonly yes: boolean;
  /** A person answers the run's questions. */
  readonly attended?: boolean | undefined;
  /** No run follows: consent is neither asked for nor stored, and `trusted` is null without it. */
  readonly dryRun?: boolean | undefined;
}

export interface Preflight {
  readonly definition: RunDefinition;
  /** Its name, or another one that none of these have either. Throws for a taken name that a person gave. */
  readonly freeName: (taken: readonly string[]) => string;
  /** The definition under this name. */
  readonly under: (name: string) => RunDefinition;
  readonly repository: RepositoryReport;
  /** Contents of the machine's files that the agents use, to be stored with the run. */
  readonly contents: readonly Content[];
  readonly warnings: readonly (
    | RepositoryWarning
    | LimitWarning
    | LimitNote
    | PriorityWarning
    | SecretWarning
    | StandInNote
    | NewerNote
    | PromptNote
    | OwnCommands
    | Copies['notes'][number]
  )[];
  /** The settings of all runs together. */
  readonly serve: Settings['serve'];
  /** Items that need a person's consent. */
  readonly items: readonly TrustItem[];
}

/**
 * Throws the first problem that can be found before a run exists. Writes only the person's consent, outside the repository. No
 * program that the repository names runs before that.
 */
export async function preflight(ports: PreflightPorts, request: PreflightRequest): Promise<Preflight> {
  refuseUnregistered(ports.runtimes, request.runtime);
  const first = await beginningIn(ports, request);
  const { subject, written, redactor } = await readSubject(ports, request, first);
  const { objective, playbook, source, folder, makesBranch } = subject;
  const { frozen, notes: ofPrompts } = await promptsOfRun(first.root, redactor, request.prompts);
  const decided = limitsOfRun(request.limits ?? {}, objective, written, playbook.name === STAGES);
  await refuseUnusable(ports, request, { ...subject, repository: first, read: decided.read });
  const described = describeRuntimes(ports, decided.read.settings.runtimes);
  const used = usedBy(playbook, decided.read);
  const copies = makesBranch === false ? NO_COPIES : await copiesOf(ports, first.root, decided.read, redactor);
  const items = [...namedBy(used, objective, described), ...copies.items, ...decided.items];
  const trust = createTrust(ports, request, first, items);
  const mayFetch = async (): Promise<boolean> => request.dryRun !== true && (await trust()) !== null;
  const about = { ...decided, ...frozen, playbook, mayFetch };
  const several = makesBranch === false ? undefined : await joinedIn(ports, first, about);
  const { read, repository } = several ?? { ...decided, repository: first };
  const { root, head, branch, from } = repository;
  // A probe starts the runtime's program.
  if (items.some(({ from }) => from === 'runtime')) await trust();
  // A dry run without consent shows the limits that hold without it; any other run has consent here.
  const limits = limitsFor(decided, request.dryRun !== true || items.length === 0 || (await trust()) !== null);
  const place = { root, read, described, redactor, adds: several?.instructions, ...frozen };
  const { agents: bound, runtimes, armory, notes: lonely } = await bindSquad(ports, request, playbook, place);
  const agents = bound.map((agent) => ({ ...agent, instructions: redactor.text(agent.instructions) }));
  const taken = await ports.takenNames(repository);
  const doubtful = await doubtfulOf(objective.criteria, { ...ports.host, root, file: subject.file });
  const define = (name: string): RunDefinition => ({
    ...{ version: 1, name, source },
    objective: objectiveOf(objective),
    ...{ playbook: playbook.name, ...defined({ folder }), ...frozen },
    options: optionsFor(playbook, read.settings, {
      ...{ name, limits, agents, objective, ...frozen },
      tries: request.tries,
    }),
    agents,
    judges: judgesOf(playbook),
    ...{ runtimes, described, limits },
    ...defined({ doubtful }),
    repository: defined({ root, base: head, branch, from }),
    ...settingsOf(request, read.settings, playbook, objective),
    ...defined({ makesBranch, copied: copies.copied, repositories: several?.repositories }),
    trusted: null,
  });
  const named = { given: request.name, ...subject.names };
  const definition = define(nameRun(named, taken));
  refuseUnplayable(playbook, definition, read);
  for (const { admit } of Object.values(SINKS)) await admit?.(ports.forge(repository), definition);
  await several?.admit(definition);
  // A definition that the schema refuses could not be resumed.
  const trusted = await trust();
  const stored = runDefinitionSchema.parse({ ...definition, trusted });
  const under: Preflight['under'] = (name) => runDefinitionSchema.parse({ ...define(name), trusted });
  const secrets = secretWarnings([...subject.redacted, ...redactedIn(bound, agents), ...armory.redacted()]);
  const notes = [...copies.notes, ...decided.notes, ...lonely, ...ofPrompts, ...ownCommands(used, described)];
  const warnings = [...repository.warnings, ...warningsAbout(stored), ...secrets, ...notes];
  const freeName: Preflight['freeName'] = (more) => nameRun(named, [...taken, ...more]);
  const { serve } = read.settings;
  return { definition: stored, freeName, under, repository, contents: armory.contents(), warnings, serve, items };
}

/** Throws for names and settings that have a secret, and for an objective that no run can have. */
async function readSubject(
  ports: PreflightPorts,
  request: PreflightRequest,
  repository: RepositoryReport,
): Promise<{ subject: Subject; written: SettingsRead; redactor: Redactor }> {
  const { root, branch, from } = repository;
  const { source, playbook, name, tries } = request;
  const given = await source.read(repository);
  const all = await withListFile(await readSettings(root, ports, ports.host), playbook, ports, ports.host);
  const written = given.settings?.(all) ?? all;
  refuseBadName(name);
  const redactor = ports.redactor(letThroughBy(written.settings));
  refuseSecretNames({ name, branch, base: from }, redactor);
  refuseSecretSettings(written, redactor);
  const subject = given.subject(request, { own: ports.playbooks, read: written, redactor });
  if (tries !== undefined) refuseTries(tries, subject.playbook);
  refusePassed(subject, ports.clock.now());
  return { subject, written, redactor };
}

/** undefined: it works on one repository, or on none. */
async function joinedIn(...of: Parameters<typeof severalOf>): Promise<Several | undefined> {
  return of[2].read.settings.repositories.length === 0 ? undefined : (await import('./several.ts')).severalOf(...of);
}

/** Most runs begin where the checkout is. */
async function beginningIn(ports: PreflightPorts, request: PreflightRequest): Promise<RepositoryReport> {
  const isElsewhere = request.base !== undefined || request.fetch === true;
  const begin = isElsewhere ? (await import('./beginning.ts')).beginningOf(ports, request) : undefined;
  return inspectForWork(ports.git, ports.host.workingDirectory, begin);
}

/** Throws for settings that no run can work with on this machine. */
async function refuseUnusable(
  { host, git, playbooks }: PreflightPorts,
  { allowFullAccess }: PreflightRequest,
  { playbook, makesBranch, repository, read }: Subject & { repository: RepositoryReport; read: SettingsRead },
): Promise<void> {
  const hasSetup = makesBranch !== false && read.settings.setup.length > 0;
  if (hasSetup) await refuseUnreusable(git, repository, read, playbooks);
  if (read.settings.sparse.length > 0) await refuseNoFolder(git, repository, read);
  refuseUnset(read, host.environment);
  refuseUnconfined(read.settings.agents ?? [], host, allowFullAccess === true);
  refuseReadOnly(playbook, read.settings.agents ?? [], fileOf(read, 'agents'));
}

function redactedIn(bound: RunDefinition['agents'], agents: RunDefinition['agents']): string[] {
  return bound.flatMap(({ name, instructions }, index) =>
    instructions === agents[index]?.instructions ? [] : [`the instructions of ${name}`],
  );
}

function warningsAbout(definition: RunDefinition): (LimitWarning | PriorityWarning)[] {
  return [...limitWarnings(definition), ...priorityWarnings(definition.objective.priority)];
}

/** The items of the repository's settings and of the objective. */
function namedBy(
  { repository }: SettingsRead,
  objective: Objective,
  described: RunDefinition['described'],
): TrustItem[] {
  return itemsToTrust(repository.settings, objective, repository, described);
}

/** Asks at most once. */
function createTrust(
  ports: PreflightPorts,
  { yes, dryRun = false }: PreflightRequest,
  repository: RepositoryReport,
  items: readonly TrustItem[],
): () => Promise<string | null> {
  let answer: Promise<string | null> | undefined;
  return () => (answer ??= (dryRun ? consentTo : agree)(items, ports, { repository, yes }));
}

/** Commands of a list that is not played need no consent. */
function usedBy(playbook: Playbook<unknown>, all: SettingsRead): SettingsRead {
  if (playbook.name === STAGES) return all;
  const { settings, repository, ...read } = all;
  const without = (one: Settings): Settings => ({ ...one, playbook: undefined });
  return {
    ...read,
    settings: without(settings),
    repository: { ...repository, settings: without(repository.settings) },
  };
}

/** Lets the playbook check the facts that the run will have. */
function refuseUnplayable(playbook: Playbook<unknown>, definition: RunDefinition, read: SettingsRead): void {
  refuseIncomplete(playbook, definition, read);
  refuseLostRoutes(definition, fileOf(read, 'mail'), read.settings.agents);
}

function refuseIncomplete(playbook: Playbook<unknown>, definition: RunDefinition, read: SettingsRead): void {
  const { objective, roster, options } = factsOf(definition);
  const parsed = playbook.parse({ objective, roster, options });
  if (parsed.ok) return;
  const { file, text } = fileOf(read, 'agents');
  const line = lineOf(text, 'agents');
  throw problemError(
    orderProblems(parsed.errors.map((message) => ({ file, line, message }))),
    `Give \`agents\` in ${file} what ${playbook.name} needs; \`squad init\` writes one to start from.`,
  );
}
