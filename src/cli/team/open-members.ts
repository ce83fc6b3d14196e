import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import type { Settings } from '../../model/settings.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { Terminal } from '../../substrate/ports/terminal.ts';
import { withLedger, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { memberPane, membersOf, type TeamFacts } from './team-panes.ts';
import { writeTicket } from '../../squad/ticket.ts';

const LOOK_MS = 200;
/** A new engine opens the mailbox of its run within a second or two. */
const MAILBOX_MS = 60_000;
/** A pane that has not started its program by then has failed. */
const TAKEN_MS = 15_000;

/** Opens a pane for each member of a run, each with its own token. Returns the members' addresses. */
export async function openMembers(
  workspace: Pick<OpenedWorkspace, 'directory' | 'composition'>,
  {
    terminal,
    team,
    settings,
    environment,
  }: { terminal: Terminal; team: string; settings: Settings; environment: Readonly<Record<string, string>> },
  facts: Omit<TeamFacts, 'session' | 'epoch' | 'format'>,
): Promise<readonly string[]> {
  const { directory, composition } = workspace;
  const { clock } = composition;
  const tokens: string[] = [];
  const tickets: string[] = [];
  return withLedger(workspace, 'write', async (ledger) => {
    try {
      const { runId, policy } = await mailboxOf(ledger, facts.run, clock);
      const { id: session, epoch } = ledger.mail.session(runId);
      const whole = { ...facts, session, epoch, format: settings.team.windowName };
      const members = membersOf(policy, whole, () => randomBytes(4).toString('hex'));
      for (const { address, instance, windowName } of members) {
        const token = ledger.mail.issuePaneToken(runId, address, instance);
        tokens.push(token);
        const { locale } = settings.mail;
        tickets.push(await writeTicket(directory, { token, run: facts.run, address, windowName, locale, environment }));
      }
      await terminal.open(
        team,
        members.map((member, index) => memberPane(whole, member, tickets[index] ?? '')),
      );
      await waitUntilTaken(tickets, clock);
      return members.map(({ address }) => address);
    } catch (error) {
      for (const token of tokens) ledger.mail.closePane(token);
      for (const ticket of tickets) await rm(ticket, { force: true });
      throw error;
    }
  });
}

async function mailboxOf(ledger: Ledger, run: string, clock: Clock) {
  for (const until = clock.monotonic() + MAILBOX_MS; clock.monotonic() < until;) {
    const row = ledger.run(run);
    const policy = row === undefined ? undefined : ledger.mail.policy(row.id);
    if (row !== undefined && policy !== undefined) return { runId: row.id, policy };
    await clock.sleep(LOOK_MS);
  }
  throw usageError(
    `${run} has no mailbox yet; its engine opens one when it starts`,
    `See the engine's pane, or run \`squad resume ${run}\`; then run \`squad team --run ${run}\`.`,
  );
}

/** Waits until every pane has read its ticket. Removes unread tickets, because they hold tokens. */
export async function waitUntilTaken(tickets: readonly string[], clock: Clock): Promise<void> {
  const left = (): readonly string[] => tickets.filter((path) => existsSync(path));
  for (const until = clock.monotonic() + TAKEN_MS; clock.monotonic() < until;) {
    if (left().length === 0) return;
    await clock.sleep(LOOK_MS);
  }
  const dead = left();
  await Promise.all(dead.map(async (path) => rm(path, { force: true })));
  if (dead.length === 0) return;
  throw wrongEnvironment(
    `${dead.length} of ${tickets.length} panes did not start`,
    'Read their output, close them with `squad team --close`, and try again.',
  );
}
