import { MAIN } from './vocabulary.ts';

interface Addressee {
  readonly name: string;
  readonly role: string;
}

/**
 * How an agent of the roster is called in messages: `MAIN` for the one whose role is main, a letter in capitals (member `a`
 * is `A`), otherwise as it is.
 */
export function addressOf({ name, role }: Addressee): string {
  if (role === 'main') return MAIN;
  return /^[a-z]$/.test(name) ? name.toUpperCase() : name;
}

/** The agent behind an address, whatever its capitals; undefined: a role, a person, or nobody. */
export function agentAt<A extends Addressee>(roster: readonly A[], address: string): A | undefined {
  const wanted = address.toLowerCase();
  return roster.find((agent) => addressOf(agent).toLowerCase() === wanted || agent.name === wanted);
}
