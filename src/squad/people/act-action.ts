import type { Intent } from '../../model/people/verbs.ts';
import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';

/** The actions of `squad.yaml`, and what people say of each. */
export function actionNames(_workspace: OpenedWorkspace): Promise<{ name: string; says: string }[]> {
  return Promise.resolve([]);
}

/** Runs an action, once for each message. Resolves with what its sender reads; throws `usage` for a name that no action has. */
export async function actAction(
  workspace: OpenedWorkspace,
  { name }: Extract<Intent, { verb: 'action' }>,
): Promise<string> {
  const names = (await actionNames(workspace)).map((one) => one.name);
  throw usageError(noSuch('action', name, names), 'Actions are in `squad.yaml`.');
}
