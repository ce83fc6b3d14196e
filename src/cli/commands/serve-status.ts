import { openMachine, type Machine } from '../../engine/machine.ts';
import { openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { namesSection, readSettingsText } from '../../squad/preflight/read-settings-text.ts';
import { serviceStatus, type ScheduleStatus, type ServiceStatus } from '../../squad/service/service-status.ts';
import type { ChannelStatus } from '../../squad/people/channel-status.ts';
import { sharedLimitLines } from '../../view/shared-limits.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { localTime } from '../../text/time.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Shows the service, its engine, the queue and the schedules, as they are now. Exit 0 without a service, too. */
export async function serveStatus({ host, output }: CommandContext, options: JsonOptions): Promise<void> {
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const now = workspace.composition.clock.now();
  const status = await serviceStatus(workspace);
  const channels = await channelsOf(workspace, status.service?.pid);
  const shown = { ...status, ...(channels.length === 0 ? {} : { channels }) };
  printResult(output, options, { type: 'service-status', at: now, ...shown }, lines(shown, now));
}

/** Loads nothing of channels where there are none. */
async function channelsOf(
  workspace: OpenedWorkspace<Machine>,
  pid: number | undefined,
): Promise<readonly ChannelStatus[]> {
  const { text } = await readSettingsText(workspace.repository.root).catch(() => ({ text: '' }));
  if (!namesSection(text, 'channels')) return [];
  const { channelStatus } = await import('../../squad/people/channel-status.ts');
  return channelStatus(workspace, pid);
}

function lines(
  {
    service,
    engine,
    runs,
    schedules,
    problem,
    sharedLimits,
    channels = [],
  }: ServiceStatus & { readonly channels?: readonly ChannelStatus[] },
  now: number,
): string[] {
  const { queued, open, asking } = runs;
  const limits = sharedLimits === undefined ? [] : sharedLimitLines(sharedLimits, now);
  const asks = asking === 0 ? '' : `, of which ${asking} ${asking === 1 ? 'waits' : 'wait'} for you`;
  return [
    service === null
      ? 'squad serve does not run here. Start it with `squad serve`.'
      : `squad serve runs here${processText(service, now)}.`,
    `  engine    ${engine === null ? 'none, because no run moves' : `at work${processText(engine, now)}`}`,
    `  runs      ${queued} in the queue, ${open} open${asks}`,
    ...limits.map((line, index) => `  ${index === 0 ? 'limits' : '      '}    ${line}`),
    ...channels.map((channel) => channelLine(channel, now)),
    ...(problem === null ? [] : [plainText(problem)]),
    ...schedules.flatMap((schedule) => scheduleLines(schedule, now)),
  ];
}

function channelLine({ name, state, since, why, due, problem }: ChannelStatus, now: number): string {
  const when = since === null ? '' : ` since ${localTime(since, now)}`;
  const because = why === undefined ? '' : `: ${plainLine(why, 200)}`;
  const replies = due === 0 ? '' : `; ${due} ${due === 1 ? 'reply is' : 'replies are'} due`;
  if (problem !== undefined) return `  channel   ${name} is not used: ${problem}${replies}`;
  if (state === null) return `  channel   ${name}: not checked, because squad serve does not run${replies}`;
  return `  channel   ${name} is ${state}${when}${because}${replies}`;
}

function processText({ pid, host, since }: NonNullable<ServiceStatus['service']>, now: number): string {
  const named = pid === undefined ? '' : ` (process ${pid} on ${plainLine(host ?? '', 100)}`;
  return named === '' || since === undefined ? named : `${named}, since ${localTime(since, now)})`;
}

function scheduleLines({ name, cron, timezone, agreed, next, started, left }: ScheduleStatus, now: number): string[] {
  const at = (instant: number): string => localTime(instant, now);
  const when = next === null ? 'no slot comes' : `next ${at(next)}`;
  return [
    `  ${name.padEnd(19)} ${when}  (${plainLine(cron, 100)}, ${timezone})`,
    ...(agreed ? [] : ['    no person has agreed to it as it is: `squad serve check`']),
    ...(started === null ? [] : [`    ${at(started.slot)}  ${started.name}`]),
    ...left.map(({ slot, outcome, why }) => `    ${at(slot)}  ${outcome}: ${plainLine(why, 300)}`),
  ];
}
