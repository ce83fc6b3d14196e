import { openMachine } from '../../engine/machine.ts';
import { SquadError, usageError } from '../../model/errors.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import { redactorOf } from '../../model/redaction/redactor.ts';
import { drivenRun } from '../../view/driven.ts';
import { openWorkspace, requireNamed, withLedger } from '../../squad/open-workspace.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
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
  return withMail(context, 'read', (opened) => work({ ...opened, ...chooseMailbox(opened, run) }));
}

/** As `lookAtMail`, for a party that sends and reads. A token decides the run. */
export async function withParty<T>(
  context: CommandContext,
  options: PartyOptions,
  work: (opened: OpenedMail, party: MailParty) => Promise<T> | T,
): Promise<T> {
  return withMail(context, 'write', (opened) => {
    const { mail } = opened;
    const speaker = speakerOf(context.host.environment, options.as);
    if (speaker.by === 'token') {
      const party = partyOfToken(mail, speaker);
      const own = chooseMailbox(opened, party.runId);
      refuseOthers(mail, party, speaker.claims, options.run, own);
      return work({ ...opened, ...own }, party);
    }
    const chosen = chooseMailbox(opened, options.run);
    return work({ ...opened, ...chosen }, partyOfPerson(mail, chosen, context.host, speaker.as));
  });
}

type AllMail = Omit<OpenedMail, 'run' | 'policy'>;

/** Without what `compose` loads, which takes longer than reading mail. */
async function withMail<T>(
  { host }: CommandContext,
  how: 'read' | 'write',
  work: (opened: AllMail) => Promise<T> | T,
): Promise<T> {
  const redactor = (names: readonly string[]) => redactorOf(host.environment, names);
  const composition = { ...openMachine(host), redactor };
  const { repository, directory } = await openWorkspace({ host, composition });
  if (!hasLedger(directory)) throw noMail('nothing has run here yet, so there is no mail');
  const { root } = repository;
  return withLedger({ directory, composition }, how, (ledger) =>
    work({ mail: ledger.mail, ledger, clock: composition.clock, root, directory }),
  );
}

function chooseMailbox(opened: AllMail, name: string | undefined): Pick<OpenedMail, 'run' | 'policy'> {
  const { ledger, mail, directory } = opened;
  if (name !== undefined) {
    const run = requireNamed(opened, ledger, name);
    const policy = mail.policy(run.id);
    if (policy !== undefined) return { run, policy };
    throw noMail(`${run.name} has no mailbox: its engine has not opened one yet, or it is a single turn`);
  }
  const open = ledger
    .runs()
    .toReversed()
    .flatMap((run) => {
      const policy = mail.policy(run.id);
      return policy === undefined ? [] : [{ run, policy }];
    });
  const [newest] = open;
  if (newest === undefined) throw noMail('no run here has a mailbox yet');
  const driven = open.length === 1 ? undefined : drivenRun(ledger, probeLock(directory));
  return open.find(({ run }) => run.id === driven) ?? newest;
}

function noMail(message: string): SquadError {
  return usageError(message, 'Start a run: `squad run objective.md`.');
}
