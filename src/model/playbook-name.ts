/** The playbooks that come with squad. An application that embeds it registers more. */
export const BUILT_IN_PLAYBOOKS = ['delivery', 'solo', 'best-of', 'objective', 'council'] as const;

/** Where no file names one. */
export const DEFAULT_PLAYBOOK = 'delivery';

/** The playbook of `squad best-of`. */
export const BEST_OF = 'best-of';

/** How many agents may do the same work in it. */
export const TRIES = { least: 2, usual: 3, most: 9 } as const;

/** Where no file names one for `squad team`. */
export const TEAM_PLAYBOOK = 'council';

/** The playbook of a run whose `squad.yaml` has a list of stages under `playbook`. */
export const STAGES = 'stages';

/** The playbook of a run that plays a session folder. It cannot be chosen without one. */
export const SESSION = 'session';

/** Word of people for the folder that such a run plays. */
export const FOLDER = 'session';

/** The playbook of `squad coordinate`; a user cannot choose it. */
export const COORDINATE = 'coordinate';

/** The playbook of one sprint. squad starts its runs: a person starts the sprint. */
export const SPRINT = 'sprint';

/** The playbook of a run that plans the requests of people; a user cannot choose it. */
export const PLAN_REQUESTS = 'plan-requests';

/** The playbook of a run that reads messages of people; a user cannot choose it. */
export const READ_MESSAGES = 'read-messages';

/** Runs of these belong to a team: their records outlive them, and once such a run is over, nothing opens it again. */
export const OF_A_TEAM: ReadonlySet<string> = new Set([SPRINT, PLAN_REQUESTS, READ_MESSAGES]);

/** The records of the tasks of a folder that are done, by the names that the folder has for them, in the order of their ends. */
export const PLAYED = 'session-done';

/** How many more tasks than the plan's limit a run may have, for repairs and mail, where a folder fills that limit. */
export const MORE_TASKS: Readonly<Record<string, number>> = { [SESSION]: 100 };
