import { CLOSED_GATE } from '../model/plan/gate.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import type { NewTask } from '../model/plan/task.ts';
import { defined } from '../text/defined.ts';
import type { Draft } from './board.ts';
import { addEngineTask } from './finish.ts';
import type { BoardPart } from './intervention-checks.ts';

type Rework = Extract<Intervention, { verb: 'rework' }>;

/** Only work that was delivered has a pull request. */
export function refuseRework({ finished, tasks }: BoardPart): string | undefined {
  if (finished === null) return 'the run is still at work';
  if (tasks.open.length > 0) return 'the run still has open tasks';
  return undefined;
}

/** Opens a run that is over again: its playbook plans what its pull request needs, or its base is merged in. */
export function rework(draft: Draft, { problems, base }: Rework): void {
  const why = draft.finished?.why ?? '';
  const { recorded, noted } = draft.gate;
  draft.finished = null;
  draft.gate = { ...CLOSED_GATE, recorded, ...defined({ noted }) };
  if (base === undefined) {
    draft.news.push({ type: 'gate-refused', refused: 1, problems: [...problems], from: 'pull-request' });
    return;
  }
  addEngineTask(draft, 'base', (id) => catchUpTask(id, base));
  // The end that was proposed before is checked again with the base in it.
  draft.gate = { ...draft.gate, at: 'checking', why };
}

function catchUpTask(id: string, { branch, commit }: NonNullable<Rework['base']>): NewTask {
  return {
    id,
    title: `Merge ${branch} at ${commit.slice(0, 12)}, which the pull request goes into`,
    role: 'engine',
    kind: 'integrate',
    needs: [],
    brief: { text: '' },
    workspace: 'own',
    session: 'new',
    requires: [],
    integrate: true,
    owner: 'engine',
    foreign: commit,
  };
}
