import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { actionRunSchema, type ActionRun } from '../../model/people/action-run.ts';
import type { ActionSettings } from '../../model/people/settings.ts';
import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainJson } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';

const SECOND_MS = 1_000;
const MOST_OUTPUT = 16 * 1024;

export interface ActionOrder extends Pick<ActionRun, 'name' | 'args' | 'by'> {
  /** A second run with it is the first one. */
  readonly key: string;
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
