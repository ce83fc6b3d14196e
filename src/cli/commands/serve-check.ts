import { checkNewRun } from '../../squad/new-run.ts';
import { sourceIn } from '../../squad/folder-runs.ts';
import { openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { agree } from '../../squad/preflight/consent.ts';
import { readSettings } from '../../squad/preflight/read-settings.ts';
import { actionItems } from '../../squad/preflight/action-items.ts';
import { channelItems } from '../../squad/preflight/channel-items.ts';
import { refuseChannels } from '../../squad/preflight/channel-variables.ts';
import { discoveryItems } from '../../squad/preflight/discovery-items.ts';
import { forgeItems } from '../../squad/preflight/forge-items.ts';
import { issueObjective } from '../../squad/preflight/issue.ts';
import { scheduleItems } from '../../squad/preflight/schedule-items.ts';
import { attachmentsFolder } from '../../substrate/system/files/run-files.ts';
import { sprintOptionsOf } from '../../squad/team/open-sprint.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { sprintSettingsSchema } from '../../model/sprint/settings.ts';
import { followOf } from '../../model/forge/follow-settings.ts';
import type { IntakeSettings } from '../../model/forge/settings.ts';
import type { Schedule } from '../../model/schedule.ts';
import { nextSlot } from '../../text/cron.ts';
import { localTime } from '../../text/time.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { readArgument } from '../read-objective.ts';

const SHOWN = 3;

/**
 * Checks each schedule as a run is checked, and asks for consent to all that it and a team start, which is kept: no person is there then.
 * Throws what a run would throw.
 */
export async function serveCheck(context: CommandContext, options: Options<'serve check'>): Promise<void> {
  const { host, output } = context;
  const workspace = await openWorkspace(context);
  const { repository, composition } = workspace;
  const read = await readSettings(repository.root, composition, host);
  const schedules = read.settings.schedules ?? [];
  const confirm = options.yes === true ? () => Promise.resolve(true) : trustOf(context, options);
  const trust = typeof confirm === 'function' ? confirm : undefined;
  const ports = { clock: composition.clock, host, ...(trust === undefined ? {} : { confirm: trust }) };
  const about = { repository, yes: false, next: 'Read it, then give the command again with `--yes`.' };
  const { discovery } = sprintSettingsSchema.parse(read.repository.settings['sprint'] ?? {});
  await agree(discoveryItems(discovery, read.repository), ports, about);
  for (const [index, schedule] of schedules.entries()) {
    const items = scheduleItems(schedule, index, read.repository, read.repository.settings.notify);
    await agree(items, ports, about);
    await checkRun(context, workspace, schedule, trust);
  }
  const { channels = {}, actions = {} } = read.repository.settings;
  for (const [name, action] of Object.entries(actions))
    await agree(actionItems(name, action, read.repository), ports, about);
  for (const [name, channel] of Object.entries(channels))
    await agree(channelItems(name, channel, read.repository), ports, about);
  refuseChannels(channels, read.repository, host.environment);
  const { forge } = read.repository.settings;
  if (forge?.intake !== undefined)
    await checkIntake(workspace, { ...forge, intake: forge.intake }, { read, ports, about, trust });
  const hasTeam = read.repository.settings['sprint'] !== undefined;
  const isFollowing = followOf(read.settings.publish?.follow) !== undefined;
  if (hasTeam) await checkTeam(workspace, trust);
  const now = composition.clock.now();
  const found = schedules.map(({ name, cron, timezone }) => ({ name, next: slotsOf({ cron, timezone }, now) }));
  const names = Object.keys(channels);
  printResult(output, options, { type: 'schedules-checked', at: now, schedules: found, channels: names }, [
    ...(found.length === 0 && !hasTeam && names.length === 0 && forge?.intake === undefined
      ? ['squad.yaml has no schedules. `squad serve` works through the queue alone.']
      : []),
    ...(hasTeam ? ['The team of squad.yaml can work: `squad serve` plans requests and starts its sprints.'] : []),
    ...(names.length === 0 ? [] : [`People can talk to squad by: ${names.join(', ')}, while \`squad serve\` runs.`]),
    ...(forge?.intake === undefined
      ? []
      : [`Issues of ${forge.remote} with the label ${forge.intake.label} start runs.`]),
    ...(isFollowing ? ['Pull requests of runs are followed: their checks and comments become work.'] : []),
    ...found.map(({ name, next }) => `${name}: ${next.map((at) => localTime(at, now)).join(', ')}`),
  ]);
}

/** The output of a command is not known yet, and is checked when it is. */
async function checkRun(
  context: CommandContext,
  workspace: OpenedWorkspace,
  { objective, playbook }: Schedule,
  trust: ReturnType<typeof trustOf>,
): Promise<void> {
  if (objective === undefined) return;
  const source = sourceIn(workspace, await readArgument(context, objective));
  await checkNewRun(workspace, source, { playbook, trust });
}

/** Its runs start without a person, too. What they are asked for changes nothing in what they start. */
async function checkTeam(workspace: OpenedWorkspace, trust: ReturnType<typeof trustOf>): Promise<void> {
  const settings = await readTeamSettings(workspace);
  const about = { milestone: 'a check', text: 'a check', items: [], attachments: [], by: 'squad' };
  const options = sprintOptionsOf(settings, {
    ...{ sprint: 'check', kickoff: { ...about, trigger: 'backlog' as const }, until: null },
    ...{ files: attachmentsFolder(workspace.directory), backlog: [], estimate: '' },
  });
  const runs = [{ review: { requests: [], findings: [], backlog: [], files: options.files } }, { sprint: options }];
  for (const run of runs) await checkNewRun(workspace, sourceIn(workspace, run), { trust });
}

interface Agreeing {
  readonly read: Awaited<ReturnType<typeof readSettings>>;
  readonly ports: Parameters<typeof agree>[1];
  readonly about: Parameters<typeof agree>[2];
  readonly trust: ReturnType<typeof trustOf>;
}

/** Nothing in an issue changes what its run starts. */
async function checkIntake(
  workspace: OpenedWorkspace,
  { remote, intake }: { readonly remote: string; readonly intake: IntakeSettings },
  { read, ports, about, trust }: Agreeing,
): Promise<void> {
  await agree(forgeItems({ remote, intake }, read.repository), ports, about);
  const issue = { number: 1, title: 'a check', body: 'a check', url: 'https://example.org/a-check' };
  for (const playbook of new Set([undefined, ...Object.values(intake.playbooks)]))
    await checkNewRun(workspace, sourceIn(workspace, issueObjective(issue)), { playbook, trust });
}

function slotsOf(timetable: Pick<Schedule, 'cron' | 'timezone'>, now: number): number[] {
  const slots: number[] = [];
  for (
    let slot = nextSlot(timetable, now);
    slot !== undefined && slots.length < SHOWN;
    slot = nextSlot(timetable, slot)
  )
    slots.push(slot);
  return slots;
}
