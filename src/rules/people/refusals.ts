import { mayUse, type Right, type Verb } from '../../model/people/verbs.ts';

/** Commands for people, by verb. */
const COMMANDS: Readonly<Record<Exclude<Verb, 'none'>, string>> = {
  request: '`request TEXT`',
  status: '`status`, `status ID`',
  'sprint-status': '`sprint status`',
  cancel: '`cancel ID`',
  'sprint-start': '`sprint start MILESTONE`',
  'sprint-stop': '`sprint stop`, `sprint stop now`',
  action: '`execute NAME`',
  answer: '`answer: TEXT`, `answer to RUN: TEXT`',
};

export const NOTHING_WAITS =
  'Nothing here waits for your yes or no. A question of squad waits for an hour; write what you want once more.';

const DOES: Readonly<Record<Verb, string>> = {
  request: 'make requests',
  status: 'ask for the status',
  'sprint-status': 'ask for the status',
  cancel: 'cancel requests',
  'sprint-start': 'start sprints',
  'sprint-stop': 'stop sprints',
  action: 'run actions',
  answer: 'answer questions of runs',
  none: 'talk to squad',
};

/** For one who may not do this. */
export function mayNot(verb: Verb, rights: readonly Right[]): string {
  return `You may not ${DOES[verb]} here, so nothing was done. ${commandsText(rights)}`.trim();
}

/** For one whose text asks for nothing that squad knows. */
export function unclear(rights: readonly Right[]): string {
  return `squad could not see what you want. ${commandsText(rights)}`.trim();
}

/** For one whose text no model could read. */
export function cannotRead(rights: readonly Right[]): string {
  return `squad could not read this message, so nothing was done. ${commandsText(rights)}`.trim();
}

/** For one whose text no run can read before a person has done something on the machine of squad. */
export function cannotReadYet(rights: readonly Right[]): string {
  const why = 'squad cannot read free text yet: on its machine, `squad serve check` says what a person has to do.';
  return `${why} Nothing was done. ${commandsText(rights)}`.trim();
}

function commandsText(rights: readonly Right[]): string {
  const verbs = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];
  const usable = verbs.filter((verb) => mayUse(rights, verb)).map((verb) => COMMANDS[verb]);
  return usable.length === 0 ? '' : `You can write: ${usable.join(', ')}.`;
}
