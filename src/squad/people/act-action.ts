import type { Intent } from '../../model/people/verbs.ts';
import { usageError } from '../../model/errors.ts';
import { actionText } from '../../view/people/action-text.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { actionItems } from '../preflight/action-items.ts';
import { hasConsent } from '../preflight/consent.ts';
import { findAction, readActions } from '../preflight/read-actions.ts';
import { runAction } from './run-action.ts';

/** The actions of `squad.yaml`, and what people say of each. */
export async function actionNames({
  repository,
}: Pick<OpenedWorkspace, 'repository'>): Promise<{ name: string; says: string }[]> {
  const { actions } = await readActions(repository.root);
  return Object.entries(actions).map(([name, { says = '' }]) => ({ name, says }));
}

/** Runs an action, once for each message. Resolves with what its sender reads; throws `usage` where it cannot be run. */
export async function actAction(
  workspace: OpenedWorkspace,
  { name, args }: Extract<Intent, { verb: 'action' }>,
  { key, by }: { readonly key: string; readonly by: string },
): Promise<string> {
  const { action, source } = await findAction(workspace.repository.root, { name, args });
  const { host, repository } = workspace;
  if (!(await hasConsent(actionItems(name, action, source), { host }, repository)))
    throw usageError(
      `no person has agreed to the action ${name} as it is now: \`squad serve check\` shows it and asks`,
      '',
    );
  return actionText(await runAction(workspace, { key, name, args, by }, action));
}
