import type { Playbook } from '../model/plan.ts';
import type { RunDefinition } from '../model/run.ts';
import { createCouncilPlaybook } from './council/index.ts';
import { createDeliveryPlaybook, DELIVERY_MAIL } from './delivery/index.ts';
import { createObjectivePlaybook, OBJECTIVE_MAIL } from './objective/index.ts';
import { withMail } from './shared/mail.ts';
import { createTurnPlaybook, TURN, turnOptionsSchema } from './turn/index.ts';

/** Each keeps its input to itself: what `parse` made is what `plan` of the same playbook gets. */
const PLAYBOOKS: Readonly<Record<string, () => Playbook<unknown>>> = {
  delivery: () => withMail(createDeliveryPlaybook(), DELIVERY_MAIL),
  objective: () => withMail(createObjectivePlaybook(), OBJECTIVE_MAIL),
  // The council reads its members' mail itself and passes on the rest.
  council: createCouncilPlaybook,
};

export const PLAYBOOK_NAMES: readonly string[] = Object.keys(PLAYBOOKS);

/** Names that squad refuses until these playbooks are complete. */
export const COMING_PLAYBOOKS: readonly string[] = ['session', 'sprint'];

/** The playbook of that name; undefined if this version has none. */
export function createPlaybook(name: string): Playbook<unknown> | undefined {
  return Object.hasOwn(PLAYBOOKS, name) ? PLAYBOOKS[name]?.() : undefined;
}

/** The playbook of a run; also the internal one of `squad dev turn`, which a user cannot choose. */
export function playbookOfRun({
  playbook,
  options,
}: Pick<RunDefinition, 'playbook' | 'options'>): Playbook<unknown> | undefined {
  return playbook === TURN ? createTurnPlaybook(turnOptionsSchema.parse(options)) : createPlaybook(playbook);
}
