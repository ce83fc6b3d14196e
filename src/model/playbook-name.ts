/** The playbooks that come with squad. An application that embeds it registers more. */
export const BUILT_IN_PLAYBOOKS = ['delivery', 'objective', 'council'] as const;

/** Where no file names one. */
export const DEFAULT_PLAYBOOK = 'delivery';

/** Where no file names one for `squad team`. */
export const TEAM_PLAYBOOK = 'council';

/** The playbook of a run whose `squad.yaml` has a list of stages under `playbook`. */
export const STAGES = 'stages';

/** The playbook of a run that plays a session folder. It cannot be chosen without one. */
export const SESSION = 'session';

/** The playbook of `squad coordinate`; a user cannot choose it. */
export const COORDINATE = 'coordinate';
