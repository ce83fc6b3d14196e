import { join } from 'node:path';
import type { RunningRun } from '../../view/running-run.ts';
import { isSwept, listUnfinished, type StillRuns, type Unfinished } from '../../view/unfinished.ts';
import { flagQueue, unflagQueue } from '../../squad/queue-flag.ts';
import { lookIn, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { startLogged } from '../../substrate/system/process/start-detached.ts';
import { ownProgram, type CommandContext } from '../command-context.ts';
import { createHost } from './host-runs.ts';

/** The work of one terminal's engine on the runs of others. */
export interface QueueHost {
  /** Starts the runs of the queue that find a place. Calls must not overlap. */
  readonly look: () => Promise<void>;
  /** Gives those that can move to an engine in the background. False: there are none. */
  readonly handOver: () => Promise<boolean>;
}

/** The runs of the queue in this process, besides its own. `note`: for the person at this terminal. */
export function createQueueHost(
  context: CommandContext,
  workspace: OpenedWorkspace,
  own: RunningRun,
  note: (text: string) => void,
): QueueHost {
  // Their own terminals show them.
  const quiet = { ...context.output, line: () => undefined, problem: () => undefined, json: () => undefined };
  const { engines: _engines, ...silent } = { ...context, output: { ...quiet, terminal: undefined } };
  const counts = ({ submitted, runId }: { submitted: boolean; runId: string }): boolean =>
    submitted && runId !== own.runId;
  const host = createHost({ ...silent, exit: () => undefined }, { options: {}, besides: 1, counts });
  const named = new Set<string>();
  const still: StillRuns = new Map();
  /** As they stand without this engine. */
  const others = (): Unfinished[] =>
    lookIn(workspace, (ledger, _lockedBy, now) => listUnfinished(ledger, null, now, { still }).filter(counts)) ?? [];
  return {
    look: async () => {
      await host.look();
      for (const name of host.names().filter((one) => !named.has(one))) {
        named.add(name);
        note(`this engine also drives ${name}, from the queue: \`squad watch ${name}\``);
      }
      if (!host.isIdle()) return;
      // In this order: what comes in between is seen, and flagged again.
      unflagQueue(workspace.directory);
      if (others().length > 0) flagQueue(workspace.directory);
    },
    handOver: async () => {
      const left = others();
      // No other engine takes a run that a person has stopped or drained, so its turns end here.
      await host.cancel(left.filter(({ need }) => need === 'held').map(({ runId }) => runId));
      if (!left.some(isSwept)) return false;
      const { environment, workingDirectory: cwd } = workspace.host;
      const command = [...ownProgram(workspace.host), 'resume', '--all', '--take-over'];
      const log = join(workspace.directory, 'runs', 'queue.log');
      const { pid } = await startLogged(command, { cwd, environment }, log);
      const names = host.names();
      const what = names.length === 0 ? 'the queue' : names.join(', ');
      context.output.problem(`note: ${what} continues in the background (process ${pid ?? 'unknown'}).`);
      return true;
    },
  };
}
