import { isSquadError } from '../../model/errors.ts';
import type { SprintStop } from '../../model/sprint/sprint.ts';
import { TODO_STATES } from '../../model/sprint/states.ts';
import { intervene } from '../intervene.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { lookAtTeam } from './read-team.ts';

const OPEN: ReadonlySet<string> = new Set(TODO_STATES.slice(0, 3));
/** The tasks of a todo, the later ones first. */
const STEPS = ['-commit', '-build', '-guide', ''];

/** Tells the run of a sprint to start no todo; `now`: to end those at work, too. Before it has todos, it ends. */
export async function stopSprint(
  workspace: OpenedWorkspace,
  id: string,
  { now }: Pick<SprintStop, 'now'>,
): Promise<void> {
  const { host, composition } = workspace;
  const place = { host, composition };
  const { team, runState } = lookAtTeam(workspace);
  const { run = '' } = team.sprint.get(id) ?? {};
  if (runState(run) !== 'open') return;
  const todos = team.progress.get(id)?.todos ?? [];
  if (todos.length === 0) {
    await ignoringEnds(async () => intervene(place, run, { verb: 'cancel' }));
    return;
  }
  for (const { id: todo, state } of todos) {
    const tasks = state === 'queued' ? [todo] : now && OPEN.has(state) ? STEPS.map((step) => `${todo}${step}`) : [];
    for (const task of tasks) await ignoringEnds(async () => intervene(place, run, { verb: 'skip', task }));
  }
}

/** A task, or the run, may end meanwhile. */
async function ignoringEnds(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'usage') throw error;
  }
}
