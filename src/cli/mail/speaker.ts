import type { MailPolicy } from '../../model/mail/policy.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whoever has a token speaks by it alone; `claims`: what else says who it is, which has to agree. */
export type Speaker =
  | { readonly by: 'token'; readonly token: string; readonly claims: readonly string[] }
  /** `as`: which member, undefined where nobody said. */
  | { readonly by: 'person'; readonly as: string | undefined };

/** Who is at the keyboard, from its environment and the flag `--as`. What this says gives no right by itself. */
export function speakerOf(environment: Environment, as: string | undefined): Speaker {
  const token = environment['SQUAD_TOKEN'];
  if (token === undefined || token === '') return { by: 'person', as: as ?? windowRole(environment) };
  return { by: 'token', token, claims: [as, environment['SQUAD_AGENT']].filter((name) => name !== undefined) };
}

/** Of a window that a person opened for a member: `TEAM_ROLE`, or what `TEAM_AGENT_ID` (`<role>-<uniq>`) begins with. */
function windowRole(environment: Environment): string | undefined {
  const role = environment['TEAM_ROLE'] ?? environment['TEAM_AGENT_ID']?.replace(/-[^-]*$/, '');
  return role === '' ? undefined : role;
}

/** The member behind a name, an address or an agent's name, whatever its capitals. */
export function memberOf(policy: MailPolicy, name: string): MailPolicy['members'][number] | undefined {
  const wanted = name.toLowerCase();
  return policy.members.find(
    ({ address, agent }) => address.toLowerCase() === wanted || agent?.toLowerCase() === wanted,
  );
}

/** The member that a person speaks as: the one that is named, or MAIN where that is a person; otherwise what is wrong. */
export function personAs(policy: MailPolicy, as: string | undefined): { address: string } | { problem: string } {
  const all = policy.members.map(({ address }) => address).join(', ');
  if (as !== undefined) {
    const member = memberOf(policy, as);
    return member === undefined ? { problem: `nobody here is called ${as}; there is: ${all}` } : member;
  }
  const main = policy.members.find(({ address }) => address === MAIN);
  if (main?.agent === null) return main;
  return { problem: `an agent coordinates this run, so a person has to say as whom they speak: ${all}` };
}
