import { runNotifyCommand } from './checks/notify-command.ts';
import type { Composition, Host } from './compose.ts';
import type { RunDefinition } from '../model/run.ts';
import type { RunEvent } from '../model/run-event.ts';
import { createOccasions, type Occasion } from '../view/occasions.ts';
import type { RunEnd } from '../view/running-run.ts';

interface NotifierPorts extends Pick<Composition, 'processes' | 'clock'> {
  readonly host: Pick<Host, 'environment'>;
  onEvent(event: RunEvent): void;
}

/** Runs the command of `notify` when the run needs a person or ends. A command that fails is a warning. */
export function createNotifier(ports: NotifierPorts, { name, notify, repository }: RunDefinition, runId: string) {
  const occasions = createOccasions();
  const environment = ports.host.environment;
  const say = async (occasion: Occasion | undefined): Promise<void> => {
    if (occasion === undefined || notify === undefined) return;
    const place = { command: notify, cwd: repository.root };
    const why = await runNotifyCommand({ processes: ports.processes, environment }, place, { run: name, ...occasion });
    if (why === undefined) return;
    ports.onEvent({ type: 'warning', at: ports.clock.now(), runId, text: `the command of \`notify\` failed: ${why}` });
  };
  return {
    /** Does not wait for the command. */
    hear: (event: RunEvent): void => void say(occasions.of(event)),
    ended: async (end: RunEnd): Promise<RunEnd> => {
      await say(occasions.ofEnd(end));
      return end;
    },
  };
}
