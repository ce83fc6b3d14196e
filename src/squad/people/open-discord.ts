import { join } from 'node:path';
import type { DiscordSettings } from '../../model/people/settings.ts';
import { withTraffic, type TrafficPorts } from '../../substrate/channels/traffic-log.ts';
import type { Channel } from '../../substrate/ports/channel.ts';
import type { Clock } from '../../substrate/ports/clock.ts';

interface DiscordHost extends Pick<TrafficPorts, 'redactor'> {
  /** The state of the repository. */
  readonly directory: string;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where what is heard and said on Discord is written down, a file for each day: in the state, because people wrote it for squad alone. */
function discordLogs(directory: string): string {
  return join(directory, 'logs', 'discord');
}

/** Opens a channel of Discord. Its code and its library are loaded here first. */
export async function openDiscord(name: string, settings: DiscordSettings, host: DiscordHost): Promise<Channel> {
  const { createDiscord } = await import('../../substrate/channels/discord/index.ts');
  const { directory, clock, redactor, environment } = host;
  const channel = await createDiscord(settings, { clock, token: environment[settings.token] ?? '' });
  return withTraffic(channel, name, { folder: discordLogs(directory), redactor, clock });
}
