import type { Playbook } from '../../model/plan.ts';
import type { Requirement } from '../../model/plan/task.ts';
import { SESSION } from '../../model/playbook-name.ts';
import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import { WORKER, WORKER_FORM } from './answer.ts';
import { backgroundOf } from './background.ts';
import { MEMORY_FILE, STATE_FILE } from './finding.ts';
import type { Session } from './session.ts';
import { sessionCast, sessionList, sessionRoles } from './session-list.ts';

/** Plays a session: its roles are the cast, and its graph decides what runs when. A run keeps the session that it began with. */
export function createSessionPlaybook(session: Session): Playbook<unknown> {
  return createStagesPlaybook({
    name: SESSION,
    list: sessionList(session),
    listFor: ({ prompts }) => sessionList(session, prompts),
    keeps: { session },
    roles: sessionRoles(session),
    cast: (source) => sessionCast(session, source),
    castsEachRole: true,
    answers: { [WORKER]: WORKER_FORM },
    background: (view, task) => backgroundOf(session, view, task),
    // Without a hand-off, whose sender ends its task: that would count as done, and start others, before its work is.
    tools: () => ['ask', 'send', 'report', 'fail'],
    requires: (prompts) => untouchedOf(session, prompts),
  });
}

/** The session that a run is frozen with; undefined: these are no options of a session. */
export function frozenSession(options: Json): Session | undefined {
  const { session } = asObject(options);
  return isJsonObject(session) ? (session as unknown as Session) : undefined;
}

// A run writes the files of its session into the checkout. Work that brought files of the same names could not be merged there: they
// would replace what squad has written, and what counts as done.

/** Files and whole folders that squad writes in the folder of a session. */
const OWN = [STATE_FILE, MEMORY_FILE, 'artifacts', 'wisdom', 'explorations', 'discussions', '.msg'];

/** Delivered work may not touch squad's files of the session. undefined: the folder is outside of the repository. */
function untouchedOf({ place }: Session, prompts?: ChangedPrompts): Requirement | undefined {
  if (place === undefined) return undefined;
  const paths = OWN.map((name) => (place === '' ? name : `${place}/${name}`));
  return { kind: 'untouched', paths, instead: renderPrompt('session/untouched', {}, prompts) };
}
