import { join } from 'node:path';
import { forgePortsOf } from '../../engine/machine.ts';
import { wrongEnvironment } from '../../model/errors.ts';
import type { IntakeSettings } from '../../model/forge/settings.ts';
import { decideIntake, keyOf } from '../../rules/forge/decide-intake.ts';
import { forgeIssues } from '../../substrate/git/forge/issues.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import type { ForgeIssues } from '../../substrate/ports/forge-issues.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { bindWorkspace, type OpenedWorkspace } from '../open-workspace.ts';
import { namesSection, readSettingsText } from '../preflight/read-settings-text.ts';
import { readForge } from '../preflight/read-forge.ts';
import { actOnIssue } from './act-on-issue.ts';
import { isForgeAgreed } from './agreed-forge.ts';
import { readPoll, writePoll, type Poll } from './poll-file.ts';
import { lookAtIssues } from './read-issues.ts';

/** Between two looks at the forge. */
const POLL_MS = 120_000;
/** After a refusal that only a person can end. */
const REFUSED_MS = 900_000;
const MOST_WAIT_MS = 3_600_000;
/** More in one go would be a fault. */
const MOST_STEPS = 500;

const FORGE_NOT_AGREED = 'no person has agreed to what issues start: `squad serve check` shows it and asks';

/**
 * Takes issues as runs and says there how these are, until it has to wait. Returns when to look again (epoch ms); undefined: there is no intake.
 * Safe to repeat, and after a kill at any place.
 */
export async function stepForge(
  opened: OpenedWorkspace,
  say: (text: string) => void,
  connect: typeof connectForge = connectForge,
): Promise<number | undefined> {
  // Nothing of it is loaded where no section says so.
  if (!namesSection((await readSettingsText(opened.repository.root)).text, 'forge')) return undefined;
  const read = await readForge(opened.repository.root);
  const { remote = 'origin', intake } = read.forge ?? {};
  if (intake === undefined) return undefined;
  const workspace = bindWorkspace(opened);
  if (!(await isForgeAgreed(workspace, read))) throw notAgreed();
  return briefly(join(workspace.directory, 'forge.lock'), async () => {
    const forge = await connect(workspace, remote);
    if ('type' in forge) throw wrongEnvironment(`issues cannot be read: ${forge.why}`, forge.next);
    return stepIntake(workspace, { forge, intake, say });
  });
}

function notAgreed() {
  return wrongEnvironment(FORGE_NOT_AGREED, 'Read it and agree with `squad serve check`.');
}

/** The forge of a remote, with the person's login. */
export async function connectForge(workspace: OpenedWorkspace, remote: string): ReturnType<typeof forgeIssues> {
  return forgeIssues(forgePortsOf(workspace), workspace.repository, remote);
}

interface Intake {
  readonly forge: ForgeIssues;
  readonly intake: IntakeSettings;
  readonly say: (text: string) => void;
}

async function stepIntake(workspace: OpenedWorkspace, { forge, intake, say }: Intake): Promise<number> {
  const { directory, composition } = workspace;
  const redactor = composition.redactor([]);
  const before = await freshPoll(directory, forge, intake.label);
  const now = composition.clock.now();
  if (before.wait !== undefined && before.wait.until > now) return before.wait.until;
  const listed = before.at + POLL_MS <= now ? await list(forge, intake.label, before, now) : before;
  const waited = async (answer: NotDone, poll: Poll): Promise<number> => {
    const wait = waitFor(answer, poll.wait?.times ?? 0, composition.clock.now());
    await writePoll(directory, { ...poll, wait });
    say(`the forge: ${plainLine(redactor.text(wait.why), 300)}`);
    return wait.until;
  };
  if ('type' in listed) return waited(listed, before);
  if (listed !== before) await writePoll(directory, listed);
  const tried = new Set<string>();
  let problem: NotDone | undefined;
  for (let left = MOST_STEPS; left > 0; left -= 1) {
    const seen = lookAtIssues(workspace, forge.place, redactor);
    const decision = decideIntake({ ...seen, settings: intake, listed: listed.listed, tried });
    if (decision.do === 'wait') break;
    tried.add(keyOf(decision));
    failpoint('forge.decided');
    const answer = await actOnIssue({ workspace, forge, intake, redactor, say, seen }, decision);
    failpoint('forge.acted');
    if (answer === undefined) continue;
    problem ??= answer;
    // A limit holds for all that would come next.
    if (answer.type === 'later') break;
  }
  if (problem !== undefined && problem.type !== 'gone') return waited(problem, listed);
  if (listed.wait !== undefined) await writePoll(directory, { ...listed, wait: undefined });
  return listed.at + POLL_MS;
}

/** The answer that is known for this place and label. */
async function freshPoll(directory: string, { place }: ForgeIssues, label: string): Promise<Poll> {
  const poll = await readPoll(directory);
  return poll?.place === place && poll.label === label ? poll : { place, label, listed: [], at: 0 };
}

async function list(forge: ForgeIssues, label: string, before: Poll, now: number): Promise<Poll | NotDone> {
  const answer = await forge.list({ label, etag: before.etag });
  if (isNotDone(answer)) return answer;
  if (answer.type === 'same') return { ...before, at: now };
  const { issues, etag } = answer;
  return {
    place: before.place,
    label,
    listed: issues.map((one) => ({ ...one, labels: [...one.labels] })),
    at: now,
    ...defined({ etag, wait: before.wait }),
  };
}

/** Longer each time, and never shorter than the forge asks for. */
export function waitFor(answer: NotDone, times: number, now: number): NonNullable<Poll['wait']> {
  const asked = answer.type === 'later' ? answer.afterMs : REFUSED_MS;
  const pause = Math.min(asked * 2 ** Math.min(times, 4), MOST_WAIT_MS);
  const next = answer.type === 'refused' && answer.next !== undefined ? `. ${answer.next}` : '';
  return { until: now + Math.max(asked, pause), why: `${answer.why}${next}`, times: times + 1 };
}
