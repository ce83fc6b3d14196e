import { z } from 'zod';
import { ACTIONS_EXAMPLE, actionsSchema, type ActionSettings } from '../../model/people/settings.ts';
import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSection } from './read-section.ts';

const schema = z.looseObject({ actions: actionsSchema });

export interface RepositoryActions {
  readonly actions: Readonly<Record<string, ActionSettings>>;
  readonly source: SettingsFile;
}

/** The actions of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. */
export async function readActions(root: string): Promise<RepositoryActions> {
  const { value, source } = await readSection(root, 'actions', { schema, example: ACTIONS_EXAMPLE });
  return { actions: value.actions ?? {}, source };
}

/** The action of a name. Throws `usage` for a name that none has, and for more arguments than it takes. */
export async function findAction(
  root: string,
  { name, args }: { readonly name: string; readonly args: readonly string[] },
): Promise<RepositoryActions & { readonly action: ActionSettings }> {
  const read = await readActions(root);
  const action = Object.hasOwn(read.actions, name) ? read.actions[name] : undefined;
  if (action === undefined)
    throw usageError(
      noSuch('action', plainLine(name, 60), Object.keys(read.actions)),
      'See `squad action list`; actions are in the section `actions` of squad.yaml.',
    );
  if (args.length > action.args) {
    const takes = action.args === 0 ? 'takes no arguments' : `takes at most ${counted(action.args, 'argument')}`;
    throw usageError(`the action ${name} ${takes}, and ${args.length} were given`, 'See `squad action list`.');
  }
  return { ...read, action };
}
