import { operatorOf } from '../../squad/machine.ts';
import type { Host } from '../../engine/compose.ts';
import { badInput, SquadError, usageError } from '../../model/errors.ts';
import { isSameName } from '../../model/mail/address.ts';
import { memberAt, type MailPolicy } from '../../model/mail/policy.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { RunRow } from '../../substrate/ports/ledger.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Who uses the command: the owner of a token, or a person. `claims`: other names that it gave, which must agree. */
export type Speaker =
  | { readonly by: 'token'; readonly token: string; readonly claims: readonly string[] }
  /** `as`: the member; undefined: none was named. */
  | { readonly by: 'person'; readonly as: string | undefined };

/** Who uses the command, by its environment and the flag `--as`. This alone gives no rights. */
export function speakerOf(environment: Environment, as: string | undefined): Speaker {
  const token = environment['SQUAD_TOKEN'];
  if (token === undefined || token === '') return { by: 'person', as: as ?? windowRole(environment) };
  return { by: 'token', token, claims: [as, environment['SQUAD_AGENT']].filter((name) => name !== undefined) };
}

/** The member that a person opened this window for: `TEAM_ROLE`, or the start of `TEAM_AGENT_ID` (`<role>-<uniq>`). */
function windowRole(environment: Environment): string | undefined {
  const role = environment['TEAM_ROLE'] ?? environment['TEAM_AGENT_ID']?.replace(/-[^-]*$/, '');
  return role === '' ? undefined : role;
}

/** The member with this address or agent name; capitals do not matter. */
export function memberOf(policy: MailPolicy, name: string): MailPolicy['members'][number] | undefined {
  return memberAt(policy, name) ?? policy.members.find(({ agent }) => agent !== null && isSameName(agent, name));
}

/** The member that a person speaks as: the named one, or MAIN if MAIN is a person. Otherwise the problem. */
export function personAs(policy: MailPolicy, as: string | undefined): { address: string } | { problem: string } {
  const all = policy.members.map(({ address }) => address).join(', ');
  if (as !== undefined) {
    const member = memberOf(policy, as);
    return member === undefined ? { problem: `no member is called ${as}; members: ${all}` } : member;
  }
  const main = memberAt(policy, MAIN);
  if (main?.agent === null) return main;
  return { problem: `an agent is MAIN in this run, so name the member that you speak as: ${all}` };
}

interface OfRun {
  readonly run: RunRow;
  readonly policy: MailPolicy;
}

/** Throws `bad-input` if the token is not valid; the store records the try. */
export function partyOfToken(mail: Mailbox, { token }: { readonly token: string }): MailParty {
  const party = mail.bearer(token);
  if (party !== undefined) return party;
  throw notAuthorized(
    'SQUAD_TOKEN is not valid: its turn or window has ended',
    'Open a new window with `squad team`, or unset SQUAD_TOKEN and speak as a person with `--as`.',
  );
}

/** Throws `bad-input` if another name or run was given than that of the token. */
export function refuseOthers(
  mail: Mailbox,
  party: MailParty,
  claims: readonly string[],
  runName: string | undefined,
  { run, policy }: OfRun,
): void {
  if (runName !== undefined && runName !== run.name && runName !== run.id) {
    throw notAuthorized(
      `SQUAD_TOKEN belongs to the run ${run.name}`,
      'Leave out --run, or unset SQUAD_TOKEN and speak as a person.',
    );
  }
  if (claims.every((name) => memberOf(policy, name)?.address === party.address)) return;
  const rule = 'must be the member that the token belongs to';
  mail.refuse(party, { reason: 'not_authorized', field: 'from', rule });
  throw notAuthorized(
    `SQUAD_TOKEN belongs to ${party.address}: you cannot speak as another member`,
    'Leave out --as. SQUAD_AGENT must name the same member.',
  );
}

/** A person at this machine, who may speak as any member. Throws `bad-input` inside a turn. */
export function partyOfPerson(mail: Mailbox, { run, policy }: OfRun, host: Host, as: string | undefined): MailParty {
  const chosen = personAs(policy, as);
  if ('problem' in chosen) {
    throw usageError(chosen.problem, 'Add `--as <member>`.');
  }
  const party: MailParty = { by: 'person', runId: run.id, address: chosen.address, name: operatorOf(host) };
  if (!insideTurn(host.environment, host.pid)) return party;
  const rule = 'cannot be a person inside a turn; use the tools of the mail server `squad`';
  mail.refuse(party, { reason: 'not_authorized', field: 'from', rule });
  throw notAuthorized(
    'a turn cannot speak as a person; its mail goes through the tools of the server `squad`',
    'Use those tools. A person uses another terminal.',
  );
}

function notAuthorized(message: string, next: string): SquadError {
  return badInput(`not_authorized: ${message}`, next);
}
