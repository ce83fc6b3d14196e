import { join } from 'node:path';
import { badInput, usageError } from '../model/errors.ts';
import type { Criterion, Objective } from '../model/objective.ts';
import { COORDINATE } from '../model/playbook-name.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Playbook } from '../model/plan.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { createCoordinatePlaybook, descriptionOf } from '../playbooks/coordinate/index.ts';
import { coordinateOptionsSchema, type CoordinateOptions } from '../playbooks/coordinate/options.ts';
import { keptFrom, type KeptFiles } from '../playbooks/coordinate/kept-files.ts';
import { shownPath, STATE_FILE } from '../playbooks/session/finding.ts';
import { MOST_READ } from '../playbooks/session/knowledge-room.ts';
import { fieldsOf } from '../text/json.ts';
import { shellWord } from '../text/shell-word.ts';
import { problemError, type WrittenObjective } from './read-input.ts';
import { readSessionFolder } from './read-session.ts';

/** A folder that has a part of a session. */
export interface BegunSession extends KeptFiles {
  /** As the person wrote it. */
  readonly shown: string;
}

/** undefined: nothing is missing in the folder. Throws `bad-input` for invalid files that squad cannot replace. */
export async function readBegun(folder: string, workingDirectory: string): Promise<BegunSession | undefined> {
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

/** `team-session.json` holds more than this beside its task. */
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

/** The success criteria of the objective for which this run made the session; empty: it made none, or another one. */
export function criteriaIn(
  { playbook, options }: Pick<RunDefinition, 'playbook' | 'options'>,
  { id }: { readonly id: string },
): readonly Criterion[] {
  const read = playbook === COORDINATE ? coordinateOptionsSchema.safeParse(options).data : undefined;
  return read?.id === id ? (read.criteria ?? []) : [];
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
