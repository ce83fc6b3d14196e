import { join } from 'node:path';
import { candidatesFor } from '../../model/sprint/candidates.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import type { Finding } from '../../model/sprint/finding.ts';
import { findAll, newAmong, openFindings, type Found } from '../../rules/sprint/findings.ts';
import type { TeamDecision } from '../../rules/sprint/decide-team.ts';
import { looksFirst } from '../../rules/sprint/looks-first.ts';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { writtenFolder } from '../../substrate/system/files/written-folder.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { followTeam } from './follow-team.ts';
import { gather, type Look } from './gather.ts';
import { lookAtTeam } from './read-team.ts';

const LOG = 'logs/operations/sourcer.log';
const MOST_LOG = 64 * 1024;

export interface Discovered {
  /** Something is found that was never found before. */
  readonly changed: boolean;
  /** Ids of findings that no planner has had, the oldest first. */
  readonly open: readonly string[];
  /** Where it could not look, for people. */
  readonly problems: readonly string[];
}

/** Looks for work that no person has asked for, and records what is new. The run of a planner settles it. */
export async function discover(workspace: OpenedWorkspace, look: Look): Promise<Discovered> {
  const { composition } = workspace;
  const at = composition.clock.now();
  const { team } = lookAtTeam(workspace);
  const { gathered, problems } = await gather(workspace, team, look);
  const redactor = composition.redactor([]);
  const found = findAll(team, gathered, look.folder).map((one) => ({
    ...one,
    title: redactor.text(one.title),
    detail: redactor.text(one.detail),
  }));
  const { fresh, open } = await withLedger(workspace, 'write', (ledger) => {
    const follow = followTeam(ledger);
    return ledger.transact(() => {
      const now = follow();
      const write = (id: string, value: Finding): void =>
        void ledger.writeRecord({ kind: KINDS.finding, id, value: plainJson(value) });
      const unknown = newAmong(now, found);
      for (const { id, source, title, detail } of unknown) write(id, { source, title, detail, firstSeen: at });
      return { fresh: unknown, open: openFindings(follow()) };
    });
  });
  await report(workspace, look, { at, fresh, problems, found: found.length });
  return { changed: fresh.length > 0, open, problems };
}

/** Looks before the next step, unless a planner had findings a moment ago. Says whether there is something new. */
export async function discoverBefore(
  workspace: OpenedWorkspace,
  look: Look,
  next: TeamDecision['do'],
): Promise<boolean> {
  const { team } = lookAtTeam(workspace);
  return looksFirst(next, team, workspace.composition.clock.now()) && (await discover(workspace, look)).changed;
}

interface Report {
  readonly at: number;
  readonly found: number;
  readonly fresh: readonly Found[];
  readonly problems: readonly string[];
}

/** Says what it did in a file of the team. A look that found nothing new, and could look everywhere, leaves no line. */
async function report(
  { repository }: OpenedWorkspace,
  { folder }: Look,
  { at, found, fresh, problems }: Report,
): Promise<void> {
  if (folder === undefined || fresh.length + problems.length === 0) return;
  const place = join(repository.root, folder);
  const time = isoTime(at);
  const lines = [
    `${time} looked found=${found} new=${fresh.length}`,
    ...candidatesFor(fresh).map(
      ({ finding, title, kind, priority }) => `${time} found ${finding} ${kind} ${priority} ${plainLine(title, 200)}`,
    ),
    ...problems.map((problem) => `${time} failed ${plainLine(problem, 300)}`),
  ];
  const before = await readPlain(join(place, LOG)).catch(() => '');
  const kept = before.length <= MOST_LOG ? before : before.slice(before.indexOf('\n', before.length - MOST_LOG) + 1);
  await writtenFolder(place).put(LOG, `${kept}${lines.join('\n')}\n`);
}
