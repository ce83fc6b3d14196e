import { SquadError, usageError } from '../../model/errors.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import { redactorOf } from '../../model/redaction/redactor.ts';
import { unknownRun } from '../../model/unknown-name.ts';
import { openMachine } from '../../engine/machine.ts';
import { findState } from '../../substrate/system/files/state-place.ts';
import { plainCheckout } from '../../substrate/git/plain-checkout.ts';
import { createSystemClock } from '../../substrate/system/clock/system-clock.ts';
import { hasLedger, openLedger } from '../../substrate/ledger/index.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger, RunRow } from '../../substrate/ports/ledger.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import type { MailOptions, PartyOptions } from './options.ts';
import { partyOfPerson, partyOfToken, refuseOthers, speakerOf } from './party.ts';

/** The mailbox of one run. */
export interface OpenedMail {
  readonly mail: Mailbox;
  readonly ledger: Ledger;
  readonly run: RunRow;
  readonly policy: MailPolicy;
  readonly clock: Clock;
  /** Top of the checkout. */
  readonly root: string;
  /** The folder with the ledger. */
  readonly directory: string;
}

/**
 * The mailbox of the run that is named, else of the one that an engine drives, else of the newest that has one, to look at
 * without changing anything. Throws `usage` where there is none.
 */
export async function lookAtMail<T>(
  context: CommandContext,
  { run }: MailOptions,
  work: (opened: OpenedMail) => Promise<T> | T,
): Promise<T> {
  const at = await findLedger(context);
  return withLedger(context, at, true, (opened) =>
    work({ ...opened, ...chooseMailbox(opened.ledger, run, at.directory) }),
  );
}

/** As `lookAtMail`, for a party that sends and reads. A token decides the run. */
export async function withParty<T>(
  context: CommandContext,
  options: PartyOptions,
  work: (opened: OpenedMail, party: MailParty) => Promise<T> | T,
): Promise<T> {
  const at = await findLedger(context);
  return withLedger(context, at, false, (opened) => {
    const { mail, ledger } = opened;
    const speaker = speakerOf(context.host.environment, options.as);
    if (speaker.by === 'token') {
      const party = partyOfToken(mail, speaker);
      const own = chooseMailbox(ledger, party.runId, at.directory);
      refuseOthers(mail, party, speaker.claims, options.run, own);
      return work({ ...opened, ...own }, party);
    }
    const chosen = chooseMailbox(ledger, options.run, at.directory);
    return work({ ...opened, ...chosen }, partyOfPerson(mail, chosen, context.host, speaker.as));
  });
}

interface Place {
  readonly root: string;
  readonly directory: string;
}

async function findLedger(context: CommandContext): Promise<Place> {
  const place = await findPlace(context);
  if (hasLedger(place.directory)) return place;
  throw noMail('nothing has run here yet, so there is no mail');
}

async function withLedger<T>(
  { host }: CommandContext,
  { root, directory }: Place,
  readOnly: boolean,
  work: (opened: Omit<OpenedMail, 'run' | 'policy'>) => Promise<T> | T,
): Promise<T> {
  const clock = createSystemClock();
  const ledger = openLedger(directory, { clock, readOnly, redactor: (names) => redactorOf(host.environment, names) });
  try {
    return await work({ mail: ledger.mail, ledger, clock, root, directory });
  } finally {
    ledger.close();
  }
}

/**
 * The top of the checkout, and the folder with its ledger, found without git where its files prove them: starting git takes longer
 * than reading mail.
 */
async function findPlace({ host }: CommandContext): Promise<Place> {
  const plain = plainCheckout(host.workingDirectory);
  if (plain !== undefined) {
    return { root: plain.root, directory: findState(host.stateDirectory, plain.gitDirectory).directory };
  }
  // Only git knows. Its module loads much that reading mail does not need.
  const { workspaceIn } = await import('../../squad/open-run.ts');
  const { repository, directory } = await workspaceIn({ host, composition: openMachine(host) });
  return { root: repository.root, directory };
}

function chooseMailbox(
  ledger: Ledger,
  name: string | undefined,
  directory: string,
): Pick<OpenedMail, 'run' | 'policy'> {
  if (name !== undefined) {
    const run = ledger.run(name);
    if (run === undefined) {
      throw unknownRun(
        name,
        ledger.runs().map((row) => row.name),
      );
    }
    const policy = ledger.mail.policy(run.id);
    if (policy !== undefined) return { run, policy };
    throw noMail(`${run.name} has no mailbox: its engine has not opened one yet, or it is a single turn`);
  }
  const open = ledger
    .runs()
    .toReversed()
    .flatMap((run) => {
      const policy = ledger.mail.policy(run.id);
      return policy === undefined ? [] : [{ run, policy }];
    });
  const [newest] = open;
  if (newest === undefined) throw noMail('no run here has a mailbox yet');
  if (open.length === 1) return newest;
  const since = probeLock(directory)?.since;
  return open.find(({ run }) => since !== undefined && isDriven(ledger, run.id, since)) ?? newest;
}

/** As `isDriven` of the report, which reading mail has no time to load. */
function isDriven(ledger: Ledger, runId: string, since: number): boolean {
  const last = ledger.segments(runId).at(-1);
  return last !== undefined && last.releasedAt === null && last.acquiredAt >= since;
}

function noMail(message: string): SquadError {
  return usageError(message, 'Start a run: `squad run objective.md`.');
}
