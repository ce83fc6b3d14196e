import type { PlanChange } from '../../model/plan/change.ts';
import type { Requirement } from '../../model/plan/task.ts';
import { MEMORY_FILE, STATE_FILE } from './finding.ts';
import type { Session } from './session.ts';

// A run writes the files of its session into the checkout. Work that brought files of the same names could not be merged there: they
// would replace what squad has written, and what counts as done.

/** What squad writes in the folder of a session: files, and folders with all that is in them. */
const OWN = [STATE_FILE, MEMORY_FILE, 'artifacts', 'wisdom', 'explorations', 'discussions', '.msg'];

const INSTEAD =
  'squad makes them of the answers of all workers. What your role says belongs there goes into the fields of your answer: a report is its `artifact`';

/** The same changes, with work that leaves squad's files of the session alone. A folder outside of the repository needs no rule. */
export function keepOff({ place }: Session, changes: readonly PlanChange[]): PlanChange[] {
  if (place === undefined) return [...changes];
  const paths = OWN.map((name) => (place === '' ? name : `${place}/${name}`));
  const untouched: Requirement = { kind: 'untouched', paths, instead: INSTEAD };
  return changes.map((change) => {
    if (change.do !== 'add-task' || !change.task.integrate) return change;
    return { ...change, task: { ...change.task, requires: [...change.task.requires, untouched] } };
  });
}
