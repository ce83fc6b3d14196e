import type { ChannelSettings } from '../../model/people/settings.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { Channel } from '../../substrate/ports/channel.ts';
import type { Clock } from '../../substrate/ports/clock.ts';

export interface OpenChannel {
  readonly name: string;
  readonly settings: ChannelSettings;
  /** The value of the variable that the settings name. */
  readonly secret: string;
  readonly clock: Clock;
  /** The state of the repository. */
  readonly directory: string;
  readonly redactor: Redactor;
}

/** Makes a channel ready. Loads what it needs only here, because most services have none. */
export async function openChannel({
  name,
  settings,
  secret,
  clock,
  directory,
  redactor,
}: OpenChannel): Promise<Channel> {
  switch (settings.type) {
    case 'discord': {
      const { openDiscord } = await import('./open-discord.ts');
      return openDiscord(name, settings, { directory, clock, redactor, environment: { [settings.token]: secret } });
    }
    case 'webhook': {
      const { createWebhook } = await import('../../substrate/channels/webhook/index.ts');
      return createWebhook({ settings, secret, clock });
    }
    default:
      return settings satisfies never;
  }
}
