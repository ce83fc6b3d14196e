import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { actionRunSchema, type ActionRun } from '../../model/people/action-run.ts';
import type { ActionSettings } from '../../model/people/settings.ts';
import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { counted } from '../../text/counted.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { readActions, type RepositoryActions } from '../preflight/read-actions.ts';

const SECOND_MS = 1_000;
const MOST_OUTPUT = 16 * 1024;

export interface ActionOrder extends Pick<ActionRun, 'name' | 'args' | 'by'> {
  /** A second run with it is the first one. */
  readonly key: string;
}

/** The action of a name. Throws `usage` for a name that none has, and for more arguments than it takes. */
export async function findAction(
  { repository }: Pick<OpenedWorkspace, 'repository'>,
  { name, args }: Pick<ActionOrder, 'name' | 'args'>,
): Promise<RepositoryActions & { readonly action: ActionSettings }> {
  const read = await readActions(repository.root);
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

/**
 * Runs an action that a person has agreed to, and records it with its output. A key that is on record runs nothing: its run is returned, which
 * has no end if squad was killed while it ran.
 */
export async function runAction(
  workspace: OpenedWorkspace,
  { key, ...order }: ActionOrder,
  { run, wall }: ActionSettings,
): Promise<ActionRun> {
  const { composition, host, repository } = workspace;
  const redactor = composition.redactor([]);
  const started: ActionRun = { ...order, at: composition.clock.now() };
  const before = await withLedger(workspace, 'write', (ledger) =>
    ledger.transact(() => {
      const there = ledger.record(PEOPLE_KINDS.action, key);
      if (there === undefined)
        ledger.writeRecord({
          kind: PEOPLE_KINDS.action,
          id: key,
          value: plainJson(redactor.json(plainJson(started))),
          after: 0,
        });
      return there;
    }),
  );
  if (before !== undefined) return actionRunSchema.parse(before.value);
  failpoint('action.begun');
  const { code, stdout, stderr, problem } = await composition.processes.run(
    '/bin/sh',
    ['-c', '--', run, order.name, ...order.args],
    {
      ...{ kind: 'action', cwd: repository.root, timeoutMs: wall * SECOND_MS },
      env: childEnvironment(host.environment, []),
    },
  );
  const printed = plainText([stdout, stderr].filter((text) => text.trim() !== '').join('\n')).trim();
  const output = redactor.text(printed).slice(-MOST_OUTPUT);
  const end = { at: composition.clock.now(), code, output, ...(problem === undefined ? {} : { problem }) };
  const ended = actionRunSchema.parse(redactor.json(plainJson({ ...started, end })));
  await withLedger(workspace, 'write', (ledger) =>
    ledger.writeRecord({ kind: PEOPLE_KINDS.action, id: key, value: plainJson(ended) }),
  );
  return ended;
}
