import type { Playbook, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { SESSION } from '../../model/playbook-name.ts';
import { asObject, isJsonObject, type Json, plainJson } from '../../text/json.ts';
import { createStagesPlaybook, stagesOptions } from '../stages/index.ts';
import { stageTask } from '../stages/stage-records.ts';
import { ANSWER, checkAnswer, WORKER } from './answer.ts';
import { backgroundOf } from './background.ts';
import type { Session } from './session.ts';
import { sessionCast, sessionList, sessionRoles } from './session-list.ts';
import { PLAYED } from '../../model/playbook-name.ts';
import type { Requirement } from '../../model/plan/task.ts';
import { MEMORY_FILE, STATE_FILE } from './finding.ts';

/** Plays a session: its roles are the cast, and its graph decides what runs when. A run keeps the session that it began with. */
export function createSessionPlaybook(session: Session): Playbook<unknown> {
  const list = sessionList(session);
  const playbook = createStagesPlaybook({
    name: SESSION,
    list,
    roles: sessionRoles(session),
    cast: (source) => sessionCast(session, source),
    options: (source) => plainJson({ ...stagesOptions(list, source), session }),
    schemas: { [WORKER]: ANSWER },
    // Without a hand-off, whose sender ends its task: that would count as done, and start others, before its work is.
    tools: () => ['ask', 'send', 'report', 'fail'],
  });
  return {
    ...playbook,
    castsEachRole: true,
    checkAnswer,
    background: (view, task) => backgroundOf(session, view, task),
    plan: (input: Parameters<typeof playbook.plan>[0]) => keepOff(session, playbook.plan(input)),
    advance: (view, event) => [...noteDone(view, event), ...keepOff(session, playbook.advance(view, event))],
  };
}

function noteDone(view: View, event: PlaybookEvent): PlanChange[] {
  if (event.type !== 'task-done') return [];
  const place = stageTask(view, event.task);
  return place === undefined ? [] : [{ do: 'put', in: PLAYED, id: place.stage, value: { task: event.task } }];
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

const INSTEAD =
  'squad makes them of the answers of all workers. What your role says belongs there goes into the fields of your answer: a report is its `artifact`';

/** Forbids delivered work to touch squad's files of the session. A folder outside of the repository needs no rule. */
function keepOff({ place }: Session, changes: readonly PlanChange[]): PlanChange[] {
  if (place === undefined) return [...changes];
  const paths = OWN.map((name) => (place === '' ? name : `${place}/${name}`));
  const untouched: Requirement = { kind: 'untouched', paths, instead: INSTEAD };
  return changes.map((change) => {
    if (change.do !== 'add-task' || !change.task.integrate) return change;
    return { ...change, task: { ...change.task, requires: [...change.task.requires, untouched] } };
  });
}
