import { MAIN } from './vocabulary.ts';

interface Addressee {
  readonly name: string;
  readonly role: string;
}

/** Capitals do not matter in addresses and roles. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * The address of an agent: `MAIN` for the role main, a capital for a name of one letter (`a` is `A`), otherwise its name.
 */
export function addressOf({ name, role }: Addressee): string {
  if (role === 'main') return MAIN;
  return /^[a-z]$/.test(name) ? name.toUpperCase() : name;
}

/** The agent with this address; undefined: a role, a person, or unknown. */
export function agentAt<A extends Addressee>(roster: readonly A[], address: string): A | undefined {
  const wanted = address.toLowerCase();
  return roster.find((agent) => addressOf(agent).toLowerCase() === wanted || agent.name === wanted);
}
