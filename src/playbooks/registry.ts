import { badInput, usageError, type SquadError } from '../model/errors.ts';
import type { KeepsFolder, MakesFolder } from '../model/folder.ts';
import type { Playbook, Playbooks } from '../model/plan.ts';
import {
  COORDINATE,
  DEFAULT_PLAYBOOK,
  PLAN_REQUESTS,
  READ_MESSAGES,
  SESSION,
  SPRINT,
  STAGES,
  type BUILT_IN_PLAYBOOKS,
} from '../model/playbook-name.ts';
import type { RunDefinition } from '../model/run.ts';
import { settingsSchema, type KnownNames } from '../model/settings.ts';
import { SPRINT_EXAMPLE, sprintSettingsSchema } from '../model/sprint/settings.ts';
import { createCoordinatePlaybook, madeFolder } from './coordinate/index.ts';
import { coordinateOptionsSchema } from './coordinate/options.ts';
import { COUNCIL_SETTINGS } from './council/council.ts';
import { createCouncilPlaybook } from './council/index.ts';
import { createBestOfPlaybook } from './delivery/best-of.ts';
import { createDeliveryPlaybook } from './delivery/index.ts';
import { createSoloPlaybook } from './delivery/solo.ts';
import { createObjectivePlaybook, OBJECTIVE_SETTINGS } from './objective/index.ts';
import { createSessionPlaybook, frozenSession } from './session/index.ts';
import { createReadingPlaybook, frozenReading } from './read-messages/index.ts';
import { sessionFiles } from './session/session-files.ts';
import { sessionRequired } from './session/session-required.ts';
import { withApproval } from './shared/plan-approval.ts';
import { createReviewPlaybook, createSprintPlaybook, frozenReview, frozenSprint } from './sprint/index.ts';
import { createStagesPlaybook } from './stages/index.ts';
import type { StageList } from './stages/stage-list.ts';
import { optionsOf } from './stages/stage-options.ts';

const BUILT_IN: Readonly<Record<(typeof BUILT_IN_PLAYBOOKS)[number], () => Playbook<unknown>>> = {
  delivery: () => createDeliveryPlaybook(),
  solo: () => createSoloPlaybook(),
  'best-of': createBestOfPlaybook,
  objective: () => createObjectivePlaybook(),
  council: createCouncilPlaybook,
};

/** Without making the playbooks, whose answers' schemas take longer than all other settings. */
const BUILT_IN_SECTIONS: KnownNames['sections'] = {
  council: COUNCIL_SETTINGS,
  objective: OBJECTIVE_SETTINGS,
  [SPRINT]: { schema: sprintSettingsSchema, example: SPRINT_EXAMPLE },
};

export const createDefaultPlaybook = BUILT_IN[DEFAULT_PLAYBOOK];

/** Error for a playbook that cannot be chosen by its name alone. */
export function wantedBy(name: string): SquadError | undefined {
  if (name === SPRINT) {
    return usageError(
      'squad itself starts the run of a sprint: `squad sprint start "milestone"`',
      'Start a sprint: `squad sprint start "milestone"`; or ask for something: `squad request "text"`.',
    );
  }
  return name === SESSION ? sessionRequired() : undefined;
}

/** Those of squad, then the application's own. */
export function playbookNames(own: Playbooks): string[] {
  return Object.keys({ ...BUILT_IN, ...own });
}

/** The playbook of that name; undefined if none is registered. Throws `bad-input` if it calls itself otherwise. */
export function createPlaybook(own: Playbooks, name: string): Playbook<unknown> | undefined {
  const all: Playbooks = { ...own, ...BUILT_IN };
  const made = Object.hasOwn(all, name) ? all[name]?.() : undefined;
  if (made?.name === name) return withApproval(made);
  if (made === undefined) return undefined;
  throw badInput(
    `the playbook registered as ${name} calls itself ${made.name}`,
    'Give it the same name in both places.',
  );
}

/** The playbooks that play a list of stages, by name. A run plays the list that it is frozen with. */
const OF_LISTS: Readonly<Record<string, (list: StageList) => Playbook<unknown>>> = {
  delivery: (list) => withApproval(createDeliveryPlaybook(list)),
  solo: (list) => withApproval(createSoloPlaybook(list)),
  objective: (list) => withApproval(createObjectivePlaybook(list)),
  [STAGES]: createPlaybookOfList,
};

/** The playbook of a list of stages in `squad.yaml`. */
export function createPlaybookOfList(list: StageList): Playbook<unknown> {
  return withApproval(createStagesPlaybook({ name: STAGES, list, joinsRepositories: true }));
}

type Of = Pick<RunDefinition, 'playbook' | 'options'>;

/** The playbook of a run; also an internal one, which a user cannot choose. */
export function playbookOfRun(own: Playbooks, { playbook, options }: Of): Playbook<unknown> | undefined {
  const session = playbook === SESSION ? frozenSession(options) : undefined;
  if (session !== undefined) return createSessionPlaybook(session);
  if (playbook === COORDINATE) return createCoordinatePlaybook(coordinateOptionsSchema.parse(options));
  const sprint = playbook === SPRINT ? frozenSprint(options) : undefined;
  if (sprint !== undefined) return withApproval(createSprintPlaybook(sprint));
  const review = playbook === PLAN_REQUESTS ? frozenReview(options) : undefined;
  if (review !== undefined) return createReviewPlaybook(review);
  const reading = playbook === READ_MESSAGES ? frozenReading(options) : undefined;
  if (reading !== undefined) return createReadingPlaybook(reading);
  const list = Object.hasOwn(OF_LISTS, playbook) ? optionsOf({ options })?.list : undefined;
  return list === undefined ? createPlaybook(own, playbook) : OF_LISTS[playbook]?.(list);
}

/** Makes the files of the folder that a run was started on; undefined: it has none. */
export function keepsFolder({ playbook, options }: Of): KeepsFolder | undefined {
  const session = playbook === SESSION ? frozenSession(options) : undefined;
  return session && ((view, moment) => sessionFiles(session, view, moment));
}

/** Plans the folder that a run makes; undefined: it makes none. */
export function makesFolder({ playbook, options }: Of): MakesFolder | undefined {
  const own = playbook === COORDINATE ? coordinateOptionsSchema.parse(options) : undefined;
  return own && ((view) => madeFolder(own, view));
}

/** The sections that playbooks have in `squad.yaml`, by name. Throws `bad-input` for one that squad itself has. */
export function settingsSections(own: Playbooks): KnownNames['sections'] {
  const sections = { ...BUILT_IN_SECTIONS };
  for (const [name, create] of Object.entries(own)) {
    const section = create().settings;
    if (section === undefined) continue;
    if (Object.hasOwn(settingsSchema.shape, name)) {
      throw badInput(`the playbook ${name} has settings, and squad.yaml has a key ${name}`, 'Give it another name.');
    }
    sections[name] = section;
  }
  return sections;
}
