import { join } from 'node:path';
import type { Machine } from '../../engine/machine.ts';
import { errorText } from '../../model/errors.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import { createRedactor } from '../../model/redaction/redactor.ts';
import { secretValues } from '../../model/redaction/secret-values.ts';
import { ledgerPath } from '../../substrate/ledger/index.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { Channel } from '../../substrate/ports/channel.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { variableOf, variableProblem } from '../preflight/channel-variables.ts';
import { readChannels } from '../preflight/read-channels.ts';
import { trustStoreOf } from '../preflight/trust-store.ts';
import { stampOf } from '../service/watched-files.ts';
import { NOT_AGREED, unagreedChannels } from './agreed-channels.ts';
import { createChannelStates, type ChannelStates } from './channel-states.ts';
import { followPeople, type FollowPeople } from './follow-people.ts';
import { openChannel, type OpenChannel } from './open-channel.ts';
import { runChannel } from './run-channel.ts';

const LOOK_MS = 2_000;

export interface HostPorts {
  readonly workspace: OpenedWorkspace<Machine>;
  readonly write: (work: (ledger: Ledger) => void) => Promise<void>;
  readonly say: (text: string) => void;
  readonly stopped: AbortSignal;
  /** Absent: the channels of squad. */
  readonly open?: (about: OpenChannel) => Promise<Channel>;
}

interface Running {
  /** Another one once the settings or the secret change. */
  readonly key: string;
  readonly stop: () => Promise<void>;
}

/** Runs the channels of squad.yaml until `stopped`: those that a person has agreed to, as they are now. */
export async function hostChannels(ports: HostPorts): Promise<void> {
  const { workspace, say, stopped } = ports;
  const { clock } = workspace.composition;
  const states = createChannelStates(workspace.directory, workspace.host.pid, () => clock.now());
  const running = new Map<string, Running>();
  const follow = followPeople();
  const { path } = trustStoreOf(workspace.host, workspace.repository);
  const files = [join(workspace.repository.root, 'squad.yaml'), path];
  while (!stopped.aborted) {
    const stamp = stampOf(files);
    try {
      await adjust(ports, { running, states, follow });
    } catch (error) {
      say(`the channels stay as they were: ${errorText(error)}`);
    }
    while (!stopped.aborted && stampOf(files) === stamp) await clock.sleep(LOOK_MS, stopped);
  }
  await Promise.all([...running.values()].map(async ({ stop }) => stop()));
}

interface Kept {
  readonly running: Map<string, Running>;
  readonly states: ChannelStates;
  readonly follow: FollowPeople;
}

async function adjust(ports: HostPorts, { running, states, follow }: Kept): Promise<void> {
  const { workspace, say } = ports;
  const { environment } = workspace.host;
  const read = await readChannels(workspace.repository.root);
  const { channels } = read;
  const unagreed = await unagreedChannels(workspace, read);
  const why = (name: string): string | undefined =>
    unagreed.includes(name) ? NOT_AGREED : variableProblem(name, channels, environment)?.why;
  const wanted = new Map(
    Object.entries(channels).flatMap(([name, settings]) => {
      const problem = why(name);
      if (problem === undefined) return [[name, { settings, key: JSON.stringify(settings) }] as const];
      if (states.of(name)?.why !== problem) say(`${name}: ${problem}`);
      states.set(name, 'off', problem);
      return [];
    }),
  );
  for (const [name, { key, stop }] of [...running]) {
    if (wanted.get(name)?.key === key) continue;
    running.delete(name);
    await stop();
    if (!Object.hasOwn(channels, name)) states.remove(name);
  }
  for (const [name, { settings, key }] of wanted)
    if (!running.has(name)) running.set(name, { key, stop: start(ports, { name, settings, states, follow }) });
}

/** Returns what stops it. */
function start(
  { workspace, write, say, stopped, open = openChannel }: HostPorts,
  about: { readonly name: string; readonly settings: ChannelSettings } & Pick<Kept, 'states' | 'follow'>,
): () => Promise<void> {
  const { name, settings } = about;
  const { directory, host, composition } = workspace;
  const { clock } = composition;
  const secret = host.environment[variableOf(settings).name] ?? '';
  const redactor = createRedactor([...secretValues(host.environment, []), secret]);
  const ending = new AbortController();
  const path = ledgerPath(directory);
  const ended = runChannel({
    ...about,
    ...{ directory, clock, redactor, write, watched: [path, `${path}-wal`] },
    say: (text) => say(redactor.text(text)),
    read: (work) => lookIn(workspace, work),
    open: async () => open({ name, settings, secret, clock, directory, redactor }),
    stopped: AbortSignal.any([stopped, ending.signal]),
  }).catch((error: unknown) => say(`${name}: ${redactor.text(errorText(error))}`));
  return async () => {
    ending.abort();
    await ended;
  };
}
