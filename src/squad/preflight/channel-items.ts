import type { ChannelSettings } from '../../model/people/settings.ts';
import type { Right } from '../../model/people/verbs.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

const RIGHT_WORDS: Readonly<Record<Right, string>> = {
  ask: 'ask how things are',
  request: 'make requests',
  control: 'cancel requests, start and stop sprints, run actions',
  answer: 'answer the questions of runs',
};

/** Shows what one channel sends away, where it listens, and who may do what through it. A repository could change all of it at any time. */
export function channelItems(name: string, channel: ChannelSettings, { file, text }: SettingsFile): TrustItem[] {
  const item = (run: string, ...path: string[]): TrustItem => {
    const at = placeIn(text, ['channels', name, ...path]);
    return { from: 'channel', run: `${name}: ${run}`, where: `${file}:${at.line}` };
  };
  const report = channel.report === undefined ? [] : [item(`reports are posted in ${channel.report}`, 'report')];
  const senders = Object.entries(channel.senders).map(([sender, rights]) => {
    const may = rights.map((right) => RIGHT_WORDS[right]).join('; ');
    const most = `${channel.messagesPerHour} messages an hour at most`;
    return item(`the sender ${sender} may: ${may} (${most})`, 'senders', sender);
  });
  return [...connectionOf(channel).map((run) => item(run)), ...report, ...senders];
}

function connectionOf(channel: ChannelSettings): string[] {
  switch (channel.type) {
    case 'discord': {
      const { token, api = 'the address of Discord', places } = channel;
      const where = places.length === 0 ? 'direct messages alone' : `${places.join(', ')}, and direct messages`;
      return [`a bot of Discord, with the token in ${token}, which is sent to ${api}`, `the bot reads ${where}`];
    }
    case 'webhook': {
      const { url, secret, poll, listen } = channel;
      return [
        `what squad says is posted to ${url}, signed with the secret in ${secret}`,
        ...(poll === undefined ? [] : [`messages are fetched from ${poll}`]),
        ...(listen === undefined ? [] : [`messages are taken at ${listen.host}:${listen.port}${reach(listen.host)}`]),
      ];
    }
    default:
      return channel satisfies never;
  }
}

function reach(host: string): string {
  return isLoopback(host) ? '' : ', which other machines can reach';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
