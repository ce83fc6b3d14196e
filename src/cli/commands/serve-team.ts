import { isSquadError, type SquadError } from '../../model/errors.ts';
import { bindWorkspace, openWorkspace, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { teamFilesKeeper } from '../../squad/team/keep-team-files.ts';
import { stepTeam } from '../../squad/team/step-team.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';

/** More in one go would be a fault. */
const MOST_STEPS = 20;
/** As many may have come while squad was away. */
const MOST_MESSAGES = 200;

function problemLine({ code, message, next }: SquadError): string {
  if (code === 'not-trusted')
    return 'no person has agreed to what its runs start: `squad serve check` shows it and asks';
  return plainLine(`${message}. ${next}`, 500);
}

interface Waited {
  readonly did: string;
  readonly text: string;
  readonly until?: number | undefined;
}

/** Repeats a step until it has to wait, and returns until when (epoch ms). */
async function untilItWaits(step: () => Promise<Waited>, most: number, said: string[]): Promise<number | undefined> {
  for (let left = most; ; left -= 1) {
    const { did, text, until } = await step();
    if (did === 'wait' || left <= 1) return until;
    said.push(text);
  }
}

/** Messages of people first: a request that one makes is planned in the same go. What fails holds up none of the others. */
async function stepAll(workspace: OpenedWorkspace, said: string[]): Promise<number | undefined> {
  const { stepPeople } = await import('../../squad/people/step-people.ts');
  const { writeNotices } = await import('../../squad/people/write-notices.ts');
  const { stepForge } = await import('../../squad/forge/step-forge.ts');
  const { stepFollow } = await import('../../squad/forge/step-follow.ts');
  const say = (text: string): void => void said.push(text);
  const parts: readonly (() => Promise<number | undefined>)[] = [
    async () => untilItWaits(async () => stepPeople(workspace), MOST_MESSAGES, said),
    async () => untilItWaits(async () => stepTeam(workspace), MOST_STEPS, said),
    async () => (await writeNotices(workspace)).until,
    async () => stepForge(workspace, say),
    async () => stepFollow(workspace, say),
  ];
  const moments: number[] = [];
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      moments.push((await part()) ?? Infinity);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  const until = Math.min(...moments);
  return until === Infinity ? undefined : until;
}

/** Does what is next for the team until it has to wait, and prints that as one line of JSON. */
export async function serveTeam(context: CommandContext): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const said: string[] = [];
  let until: number | undefined;
  try {
    until = await stepAll(workspace, said);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    // The service shows one line, once.
    return context.output.line(problemLine(error));
  }
  await teamFilesKeeper((text) => void said.push(text))(workspace, { isLast: true });
  context.output.json({ said, until: until ?? null });
}
