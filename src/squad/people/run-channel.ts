import { errorText } from '../../model/errors.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import { pauseAfter } from '../../rules/service/engine-pause.ts';
import type { Channel } from '../../substrate/ports/channel.ts';
import { plainLine } from '../../text/plain-text.ts';
import { stampOf } from '../service/watched-files.ts';
import type { ChannelStates } from './channel-states.ts';
import type { FollowPeople } from './follow-people.ts';
import { createIntake } from './intake.ts';
import type { PeoplePorts } from './people-ports.ts';
import { postDue } from './post-due.ts';

const TICK_MS = 500;
/** A connection that held so long is no one that cannot work. */
const LONG_MS = 60_000;
/** After the ledger could not be read or written. */
const FAILED_MS = 5_000;

export interface RunChannel extends PeoplePorts {
  readonly name: string;
  readonly settings: ChannelSettings;
  readonly follow: FollowPeople;
  readonly states: Pick<ChannelStates, 'set'>;
  readonly open: () => Promise<Channel>;
  /** The files that change with each record. */
  readonly watched: readonly string[];
  readonly stopped: AbortSignal;
}

/** Listens and posts on one channel until `stopped`. What fails is tried again, less and less often; neither holds the other back. */
export async function runChannel(ports: RunChannel): Promise<void> {
  const { states, name, stopped } = ports;
  states.set(name, 'starting');
  const opened: { channel?: Channel } = {};
  await again(ports, async () => void (opened.channel = await ports.open()));
  const { channel } = opened;
  if (channel === undefined || stopped.aborted) return;
  await Promise.all([again(ports, async () => listen(ports, channel)), post(ports, channel)]);
}

/** Until it has ended without an error. */
async function again({ name, clock, say, states, stopped }: RunChannel, work: () => Promise<void>): Promise<void> {
  let last = '';
  for (let failures = 0; !stopped.aborted;) {
    const began = clock.monotonic();
    try {
      return await work();
    } catch (error) {
      if (stopped.aborted) return;
      failures = clock.monotonic() - began > LONG_MS ? 1 : failures + 1;
      const why = plainLine(errorText(error), 300);
      states.set(name, 'lost', why);
      if (why !== last) say(`${name}: ${why}; squad tries again`);
      last = why;
      await clock.sleep(pauseAfter(failures), stopped);
    }
  }
}

async function listen(ports: RunChannel, channel: Channel): Promise<void> {
  const { name, states, stopped, say } = ports;
  const intake = createIntake(ports);
  const about = {
    state: (now: 'connected' | 'lost', why?: string): void => states.set(name, now, why),
    say: (text: string): void => say(`${name}: ${text}`),
  };
  await channel.listen({ ...intake, ...about }, stopped);
  if (!stopped.aborted) throw new Error('it stopped to listen');
}

async function post(ports: RunChannel, channel: Channel): Promise<void> {
  const { clock, watched, say, name, stopped, settings } = ports;
  let last = '';
  while (!stopped.aborted) {
    // Before the look: what is written meanwhile is seen by the next one.
    const stamp = stampOf(watched);
    let until: number;
    try {
      until = (await postDue({ ...ports, channel, report: settings.report })) ?? Infinity;
      last = '';
    } catch (error) {
      if (errorText(error) !== last) say(`${name}: ${errorText(error)}`);
      last = errorText(error);
      until = clock.now() + FAILED_MS;
    }
    const isChanged = (): boolean => last === '' && stampOf(watched) !== stamp;
    for (let before = clock.now(); !stopped.aborted && clock.now() < until && !isChanged();) {
      await clock.sleep(TICK_MS, stopped);
      // A clock that was set back.
      if (clock.now() < before) break;
      before = clock.now();
    }
  }
}
