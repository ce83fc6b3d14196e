import { wrongEnvironment } from '../../model/errors.ts';
import type { ChannelSettings } from '../../model/people/settings.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';

type Channels = Readonly<Record<string, ChannelSettings>>;

/** The variable whose value proves who squad is on this channel. */
export function variableOf(channel: ChannelSettings): { readonly key: 'token' | 'secret'; readonly name: string } {
  return channel.type === 'discord' ? { key: 'token', name: channel.token } : { key: 'secret', name: channel.secret };
}

/** Why this channel cannot be used with these variables; undefined: it can. Says no value. */
export function variableProblem(
  name: string,
  channels: Channels,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly key: string; readonly why: string } | undefined {
  const channel = channels[name];
  if (channel === undefined) return undefined;
  const { key, name: variable } = variableOf(channel);
  const value = environment[variable] ?? '';
  if (value === '') return { key, why: `the variable ${variable} is not set here` };
  if (/[\s\u0000-\u001f]/.test(value)) return { key, why: `the variable ${variable} has blanks or line ends in it` };
  const earlier = Object.keys(channels).slice(0, Object.keys(channels).indexOf(name));
  const same = earlier.find((one) => {
    const other = channels[one];
    return other?.type === channel.type && environment[variableOf(other).name] === value;
  });
  return same === undefined ? undefined : { key, why: `the variable ${variable} has the value of channels.${same}` };
}

/** Throws `wrong-environment` for the first channel that cannot be used with these variables. */
export function refuseChannels(
  channels: Channels,
  { file, text }: SettingsFile,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, channel] of Object.entries(channels)) {
    const problem = variableProblem(name, channels, environment);
    if (problem === undefined) continue;
    const { line } = placeIn(text, ['channels', name, problem.key]);
    const next = `Set it: \`export ${variableOf(channel).name}=…\`, then run the command again. Or take the channel out of ${file}.`;
    throw wrongEnvironment(`${file}:${line}: channels.${name}.${problem.key}: ${problem.why}`, next);
  }
}
