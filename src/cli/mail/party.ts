import { memberOf, personAs } from './speaker.ts';
import { operatorOf } from '../operator.ts';
import type { Host } from '../../compose.ts';
import { SquadError } from '../../model/errors.ts';
import type { MailPolicy } from '../../model/mail/policy.ts';
import type { RunRow } from '../../substrate/ports/ledger.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import { insideTurn } from '../../substrate/process/process-table.ts';

interface OfRun {
  readonly run: RunRow;
  readonly policy: MailPolicy;
}

/** Throws `bad-input` where the token is nobody's; the store has such a try on record. */
export function partyOfToken(mail: Mailbox, { token }: { readonly token: string }): MailParty {
  const party = mail.bearer(token);
  if (party !== undefined) return party;
  throw notAuthorized(
    'SQUAD_TOKEN is nobody’s any more: the turn or window that it was given to is over',
    'Open a new window with `squad team`, or unset SQUAD_TOKEN and speak as a person with `--as`.',
  );
}

/** What else says who this is must not say somebody else. Throws `bad-input`. */
export function refuseOthers(
  mail: Mailbox,
  party: MailParty,
  claims: readonly string[],
  runName: string | undefined,
  { run, policy }: OfRun,
): void {
  if (runName !== undefined && runName !== run.name && runName !== run.id) {
    throw notAuthorized(
      `SQUAD_TOKEN is of the run ${run.name}`,
      'Leave out --run, or unset SQUAD_TOKEN and speak as a person.',
    );
  }
  if (claims.every((name) => memberOf(policy, name)?.address === party.address)) return;
  const rule = 'is whoever the token belongs to; nobody speaks as another';
  mail.refuse(party, { reason: 'not_authorized', field: 'from', rule });
  throw notAuthorized(
    `SQUAD_TOKEN is ${party.address}’s, and nobody speaks as another`,
    'Leave out --as; SQUAD_AGENT has to name the same member.',
  );
}

/** A person at this machine, who may speak as any member. Throws `bad-input` for what runs inside a turn. */
export function partyOfPerson(mail: Mailbox, { run, policy }: OfRun, host: Host, as: string | undefined): MailParty {
  const chosen = personAs(policy, as);
  if ('problem' in chosen) {
    throw new SquadError({ code: 'usage', message: chosen.problem, next: 'Say as whom: `--as <member>`.' });
  }
  const party: MailParty = { by: 'person', runId: run.id, address: chosen.address, name: operatorOf(host) };
  if (!insideTurn(host.environment, host.pid)) return party;
  const rule = 'is no person where a turn runs, whose mail goes by the tools of the server squad';
  mail.refuse(party, { reason: 'not_authorized', field: 'from', rule });
  throw notAuthorized(
    'inside a turn nobody speaks as a person: its mail goes by the tools of the server `squad`',
    'Use these tools. A person speaks from a terminal of their own.',
  );
}

function notAuthorized(message: string, next: string): SquadError {
  return new SquadError({ code: 'bad-input', message: `not_authorized: ${message}`, next });
}
