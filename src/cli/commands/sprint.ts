import { badInput, isSquadError, SquadError, usageError } from '../../model/errors.ts';
import { endedAs, isTodoDone } from '../../model/sprint/sprint.ts';
import { activeSprint } from '../../model/sprint/team.ts';
import { operatorOf } from '../../squad/machine.ts';
import type { TrustOption } from '../../squad/new-run.ts';
import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { isActive, openSprint, submitSprint } from '../../squad/team/open-sprint.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { lookAtTeam } from '../../squad/team/read-team.ts';
import { keepAttachments } from '../../squad/team/attachments.ts';
import { discoverBefore } from '../../squad/team/discover.ts';
import { finishBegun } from '../../squad/team/step-team.ts';
import { kickoffBy } from '../../squad/team/kickoff.ts';
import { stopActive } from '../../squad/team/stop-active.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { otherDriver } from '../../substrate/ledger/workspace-lock.ts';
import { counted } from '../../text/counted.ts';
import { localTime } from '../../text/time.ts';
import { parseUntil } from '../../text/since.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { driveTeam } from './drive-team.ts';

const MOST_TEXT = 64 * 1024;

/** Opens a sprint for a milestone, and drives it where no service does. */
export async function sprintStart(
  context: CommandContext,
  text: string,
  options: Options<'sprint start'>,
): Promise<void> {
  const { output } = context;
  const { detach } = options;
  if (text.trim() === '')
    throw usageError('the milestone is empty', 'Say what the sprint is for: `squad sprint start "a login page"`.');
  if (Buffer.byteLength(text) > MOST_TEXT)
    throw badInput('the text is longer than 64 KiB', 'Put the rest into a file: `--attach requirements.md`.');
  const workspace = bindWorkspace(await openWorkspace(context));
  const trust = trustOf(context, options);
  const id = begunBefore(workspace, text) ?? (await begin(context, workspace, { text, trust, options }));
  if (detach === true) return;
  const code = await driveTeam(context, options, {
    trust,
    isOver: (now) => lookAtTeam(now).team.end.has(id),
  });
  const { branch } = await readTeamSettings(workspace);
  const end = lookAtTeam(workspace).team.end.get(id);
  if (end === undefined) return context.exit(code === 0 ? 3 : code);
  const { todos = [] } = lookAtTeam(workspace).team.progress.get(id) ?? {};
  const done = todos.filter(isTodoDone).length;
  const why = end.reason === undefined ? '' : `: ${plainLine(end.reason, 500)}`;
  const counts = todos.length === 0 ? '' : ` ${done} of ${counted(todos.length, 'todo')} done.`;
  const where =
    end.head === null ? 'Nothing was delivered.' : `Its work is on ${branch}: \`squad merge ${branch}\` takes it.`;
  printResult(output, options, { type: 'sprint-ended', id, ...end }, [
    `The sprint ${id} ${endedAs(end)}${why}.${counts}`,
    where,
    `Its report: \`squad sprint report ${id}\`.`,
  ]);
  context.exit(end.outcome === 'completed' && done === todos.length ? 0 : 1);
}

/** The sprint that this command has begun before it was killed: it is active with these words, and no process works here. */
function begunBefore(workspace: OpenedWorkspace, text: string): string | undefined {
  const { team } = lookAtTeam(workspace);
  const id = activeSprint(team);
  if (id === undefined || isServed(workspace)) return undefined;
  const kickoff = team.sprint.get(id)?.kickoff;
  const isSame = kickoff?.trigger === 'person' && kickoff.text === workspace.composition.redactor([]).text(text.trim());
  return isSame ? id : undefined;
}

function isServed({ directory }: OpenedWorkspace): boolean {
  return otherDriver(directory) !== undefined || findService(directory) !== null;
}

interface Begin extends TrustOption {
  readonly text: string;
  readonly options: Options<'sprint start'>;
}

async function begin(
  { output, host }: CommandContext,
  workspace: OpenedWorkspace,
  { text, trust, options }: Begin,
): Promise<string> {
  const { composition } = workspace;
  const { clock } = composition;
  refuseActive(workspace, { unless: 'over' });
  // A service finishes it by itself.
  if (!isServed(workspace)) await finishBegun(workspace, { trust });
  refuseActive(workspace);
  const until = untilOf(options.until, clock.now());
  const settings = await readTeamSettings(workspace);
  const attachments = await keepAttachments(workspace, options.attach ?? []);
  const kickoff = kickoffBy(workspace, { text, by: operatorOf(host), attachments });
  await discoverBefore(workspace, settings, 'open-sprint');
  const id = await openSprint(workspace, settings, { kickoff, until });
  await submitSprint(workspace, settings, id, { trust }).catch((error: unknown) => {
    throw isSquadError(error) ? onRecord(error, id) : error;
  });
  const when = until === undefined ? '' : ` It wraps up at ${localTime(until, clock.now())}.`;
  printResult(output, options, { type: 'sprint-started', id }, [`The sprint ${id} begins.${when}`]);
  return id;
}

/** Its run is refused, and the sprint waits for that. */
function onRecord({ code, message, next = '' }: SquadError, id: string): SquadError {
  const own = `The sprint ${id} waits for that: the same command continues it, and \`squad sprint stop\` ends it.`;
  return new SquadError({ code, message, next: `${next} ${own}`.trim() });
}

/** `over`: its run is, so that it only has to be closed. */
function refuseActive(workspace: OpenedWorkspace, { unless }: { readonly unless?: 'over' } = {}): void {
  const { team, runState } = lookAtTeam(workspace);
  const active = activeSprint(team);
  const sprint = active === undefined ? undefined : team.sprint.get(active);
  if (active === undefined || sprint === undefined || (unless === 'over' && runState(sprint.run) === 'over')) return;
  throw isActive(active, isServed(workspace) ? undefined : sprint.kickoff);
}

function untilOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const until = parseUntil(text, now);
  const example = 'Give a time to come: `--until 18:00`, `--until 2h` or `--until 2026-11-27T18:00`.';
  if (until === undefined) throw badInput(`${plainLine(text, 80)} is no time`, example);
  if (until <= now) throw badInput(`${plainLine(text, 80)} has passed`, example);
  return until;
}

/** Has the active sprint wrap up: no todo starts any more, and the rest is carried over. */
export async function sprintStop(context: CommandContext, options: Options<'sprint stop'>): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const now = options.now === true;
  const id = await stopActive(workspace, { by: operatorOf(context.host), now });
  if (id === undefined) throw usageError('no sprint is active', 'See `squad sprint status`.');
  printResult(context.output, options, { type: 'sprint-stopping', id, now }, [
    `${id} wraps up: ${now ? 'its todos are ended' : 'what runs may finish, and no todo starts any more'}; the rest is carried over.`,
  ]);
  // Otherwise its run would wait for an engine.
  if (!isServed(workspace))
    await driveTeam(context, options, { begins: 'nothing', isOver: (now) => lookAtTeam(now).team.end.has(id) });
}
