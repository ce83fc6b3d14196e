import { join, resolve } from 'node:path';
import { badInput, usageError } from '../../../model/errors.ts';
import type { Objective } from '../../../model/objective.ts';
import type { Playbook } from '../../../model/plan.ts';
import type { Redactor } from '../../../model/redaction/redactor.ts';
import type { Settings } from '../../../model/settings.ts';
import { createCoordinatePlaybook, descriptionOf } from '../../../playbooks/coordinate/index.ts';
import { keptFrom, type KeptFiles } from '../../../playbooks/coordinate/kept-files.ts';
import type { CoordinateOptions } from '../../../playbooks/coordinate/options.ts';
import { playCommand, playNote, playOptions, type PlayGiven } from '../../../playbooks/coordinate/play-command.ts';
import { shownPath, STATE_FILE } from '../../../playbooks/session/finding.ts';
import { MOST_READ } from '../../../playbooks/session/knowledge-room.ts';
import { problemError, readObjective, type WrittenObjective } from '../../preflight/read-input.ts';
import type { SettingsRead } from '../../preflight/read-settings.ts';
import { objectiveWithoutSecrets } from '../../preflight/secrets.ts';
import type { Source } from '../../preflight/source.ts';
import { fieldsOf } from '../../../text/json.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { readSessionFolder } from './read-session.ts';
import { placeSession, refuseFilled, refuseReadOnly } from './session-place.ts';
import { refuseNamed, refuseSecondRun, type FolderRuns } from './session-runs.ts';

export interface NewSessionRequest extends PlayGiven {
  /** The folder of the session; absent: a new one in the repository. */
  readonly into?: string | undefined;
  /** Keeps what is valid in the folder, and makes what is missing. */
  readonly resume?: boolean | undefined;
}

interface NewSessionPorts {
  readonly runs: FolderRuns;
  readonly redactor: Redactor;
  /** Top of the checkout. */
  readonly root: string;
  readonly workingDirectory: string;
}

export interface NewSession {
  /** undefined: nothing is missing, so that no run has anything to do. */
  readonly source: Source | undefined;
  /** The session's folder, as people name it. */
  readonly folder: string;
  /** The command that plays it, and what that does not say; undefined: it says all. */
  readonly next: string;
  readonly note: string | undefined;
  /** Objective that it is made for; undefined: nothing was missing, and no objective was named. */
  readonly madeFor: Objective | undefined;
  /** Files of it that are not valid and are made anew. */
  readonly invalid: readonly string[];
}

/** Where a session is to be made, and of what. Throws for a folder that it cannot be in, and for one that a run has. */
export async function newSession(
  { runs, redactor, root, workingDirectory }: NewSessionPorts,
  objective: WrittenObjective | undefined,
  { into, resume = false, ...given }: NewSessionRequest,
): Promise<NewSession> {
  let begun: BegunSession | undefined;
  if (resume) {
    if (into === undefined) {
      throw usageError(
        '--resume needs the folder of the session',
        'Name it: `squad coordinate --into FOLDER --resume`.',
      );
    }
    // Before the folder is judged: while a run plays it, nothing can be added, and no other run can begin.
    refuseNamed(runs, into, workingDirectory);
    begun = await readBegun(into, workingDirectory);
    if (begun === undefined) {
      const madeFor = objective === undefined ? undefined : await readObjective(objective, workingDirectory);
      const how = playOptions(givenTo(given, madeFor));
      const next = playCommand(resolve(workingDirectory, into), how);
      return { source: undefined, folder: into, next, note: playNote(how), madeFor, invalid: [] };
    }
  }
  const madeFor = await readObjective(objective ?? objectiveIn(begun), workingDirectory);
  refuseTooLong(madeFor, begun);
  const now = runs.now();
  const title = redactor.text(madeFor.title);
  const { named, ...at } = await placeSession({ root, workingDirectory, title, now, into });
  const { folder, shown } = at;
  await (begun === undefined ? refuseFilled(at, workingDirectory) : refuseReadOnly(at));
  refuseSecondRun(runs, folder);
  const { play, playWithout } = playOptions(givenTo(given, madeFor));
  const how = { play: play.map((word) => redactor.text(word)), playWithout };
  const { criteria } = objectiveWithoutSecrets(madeFor, redactor);
  const playbook = playbookOfNewSession({ ...at, ...how, criteria, shown: named }, begun, now, redactor);
  const source = newSessionSource(madeFor, playbook, () => refuseSecondRun(runs, folder));
  const next = playCommand(folder, how);
  return { source, folder: shown, next, note: playNote(how), madeFor, invalid: begun?.invalid ?? [] };
}

/** As `--run` passes it on, where a command can. */
function givenTo({ runtime, allowFullAccess, limits }: PlayGiven, madeFor: Objective | undefined): PlayGiven {
  const { frontMatter, deadline, priority } = madeFor ?? {};
  return {
    ...{ runtime, allowFullAccess, deadline, priority, name: frontMatter?.name },
    limits: { ...frontMatter?.limits, ...limits },
  };
}

/** A folder that has a part of a session. */
export interface BegunSession extends KeptFiles {
  /** As the person wrote it. */
  readonly shown: string;
}

/** undefined: nothing is missing in the folder. Throws `bad-input` for what squad cannot make anew. */
async function readBegun(folder: string, workingDirectory: string): Promise<BegunSession | undefined> {
  const answer = keptFrom(await readSessionFolder(folder, workingDirectory));
  switch (answer.type) {
    case 'complete':
      return undefined;
    case 'partly':
      return { shown: folder, kept: answer.kept, invalid: answer.invalid };
    case 'outgrown':
      throw problemError(answer.refusal.problems, answer.refusal.next);
    case 'refused':
      throw problemError(answer.problems, 'Correct these files yourself: squad does not write them.');
    case 'absent':
      throw badInput(
        answer.why,
        `Make a new one: \`squad coordinate objective.md --into ${shellWord(shownPath(folder))}\`.`,
      );
  }
}

/** The task of a session that was begun, in its own words alone. Throws `usage` if it has none. */
export function objectiveIn(begun: BegunSession | undefined): WrittenObjective {
  const folder = begun?.shown ?? '';
  const state = begun?.kept.find(({ path }) => path === STATE_FILE);
  const { task_description: text } = fieldsOf(state?.text ?? '');
  if (typeof text === 'string' && text.trim() !== '') return { text, from: join(folder, STATE_FILE), isPlain: true };
  const why =
    begun?.invalid.includes(STATE_FILE) === true ? `${STATE_FILE} is not valid` : 'the folder has no task_description';
  throw usageError(
    `there is no objective, and ${why}`,
    `Name the objective: \`squad coordinate objective.md --into ${shellWord(shownPath(folder))} --resume\`.`,
  );
}

/** The rest of `team-session.json`, beside its task, is longer. */
const LEAST_OF_STATE = 1024;

/** Throws `bad-input` for an objective for which `team-session.json` has no room, whatever the planner answers. */
export function refuseTooLong(objective: Objective, begun: BegunSession | undefined): void {
  if (begun?.kept.some(({ path }) => path === STATE_FILE) === true) return;
  const most = MOST_READ - LEAST_OF_STATE;
  if (Buffer.byteLength(JSON.stringify(descriptionOf(objective))) <= most) return;
  throw problemError(
    [
      {
        file: objective.file,
        line: 1,
        message: `the objective is too long: as JSON, in ${STATE_FILE}, it may have ${most} bytes`,
      },
    ],
    'Shorten it, or put details into files of the repository and name these.',
  );
}

/** `begun`: what the folder has already; undefined: there is no folder. */
export function playbookOfNewSession(
  place: Pick<CoordinateOptions, 'folder' | 'shown' | 'id' | 'team' | 'criteria' | 'play' | 'playWithout'>,
  begun: BegunSession | undefined,
  now: number,
  redactor: Redactor,
): Playbook<unknown> {
  const { invalid = [] } = begun ?? {};
  const kept = (begun?.kept ?? []).map(({ path, text }) => ({ path, text: redactor.text(text) }));
  const { session_id: id } = fieldsOf(kept.find(({ path }) => path === STATE_FILE)?.text ?? '');
  return createCoordinatePlaybook({
    ...place,
    // A state that stays says whose session it is.
    ...(typeof id === 'string' ? { id } : {}),
    createdAt: new Date(now).toISOString(),
    invalid: [...invalid],
    kept,
    isThere: begun !== undefined,
  });
}

/** An objective for which a session is designed: its words alone, because runs of the session prove what it asks for. */
export function newSessionSource(given: Objective, playbook: Playbook<unknown>, admit: () => void): Source {
  return {
    admit,
    read: () =>
      Promise.resolve({
        settings: (read) => settingsFor(read, playbook),
        subject: (_request, { redactor }) => {
          const cleared = objectiveWithoutSecrets(given, redactor);
          const { file: source, title } = cleared;
          const redacted = cleared === given ? [] : [source];
          const objective = { ...cleared, criteria: [] };
          // The name that the objective gives belongs to the run that does its work.
          const names = { title: `${playbook.name} ${title}` };
          return { objective, source, playbook, redacted, names, makesBranch: false };
        },
      }),
    // It delivers nothing of the objective.
    isOf: () => false,
  };
}

/** No command of the repository runs, and only agents with a role of the playbook work, with the models that are given to them. */
function settingsFor(read: SettingsRead, { roles }: Playbook<unknown>): SettingsRead {
  const alone = (settings: Settings): Settings => {
    const agents = settings.agents?.filter(({ role }) => Object.hasOwn(roles, role)) ?? [];
    const names = new Set([...Object.keys(roles), ...agents.map(({ name }) => name)]);
    const models = Object.fromEntries(Object.entries(settings.models).filter(([name]) => names.has(name)));
    const mail = { ...settings.mail, routes: undefined };
    const nothing = { setup: [], verify: [], publish: undefined, playbook: undefined };
    return { ...settings, ...nothing, mail, models, agents: agents.length === 0 ? undefined : agents };
  };
  const { repository, settings } = read;
  return { ...read, settings: alone(settings), repository: { ...repository, settings: alone(repository.settings) } };
}
