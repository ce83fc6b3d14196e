import { addressOf, isSameName } from './address.ts';
import { refuse } from './refusal.ts';
import type { MailKind } from './kind.ts';
import type { MailPolicy } from './policy.ts';
import { MAIN } from './vocabulary.ts';

/** By agent, address or role: whom it may write to besides MAIN, in place of the playbook's rules. */
export type OwnRoutes = Readonly<Record<string, readonly string[]>>;

interface Agent {
  readonly name: string;
  readonly role: string;
}

/** Whom the settings let this agent write to; undefined: they say nothing of it. */
export function ownRoutesOf(routes: OwnRoutes | undefined, agent: Agent): readonly string[] | undefined {
  return routes?.[agent.name] ?? routes?.[addressOf(agent)] ?? routes?.[agent.role];
}

/** Whether the settings let one agent write to the other. MAIN writes to everybody, and everybody to MAIN. */
export function mayWriteTo(routes: OwnRoutes | undefined, from: Agent, to: Agent): boolean {
  const own = ownRoutesOf(routes, from);
  if (own === undefined || addressOf(from) === MAIN || addressOf(to) === MAIN) return true;
  return own.some((entry) => isSameName(entry, addressOf(to)) || isSameName(entry, to.role));
}

export type MailMember = MailPolicy['members'][number];

/** The recipients, each in its one spelling. Refuses the first one that is unknown or named twice. */
export function resolveTo(to: readonly string[], { members }: MailPolicy, sender: MailMember): readonly string[] {
  const addresses = members.map((member) => member.address);
  const roles = rolesOf(members, sender);
  const found: string[] = [];
  for (const [index, wanted] of to.entries()) {
    const field = `to[${index}]`;
    const name = findName(addresses, wanted) ?? findName(roles, wanted);
    if (name === undefined) refuse('invalid_format', field, existing(addresses, roles));
    if (found.includes(name)) refuse('invalid_format', field, 'must be named only once');
    found.push(name);
  }
  return found;
}

export function resolveOwner(owner: string, { members }: MailPolicy): string {
  const addresses = members.map((member) => member.address);
  const name = findName(addresses, owner);
  return name ?? refuse('invalid_format', 'owner', `must be one of the addresses ${addresses.join(', ')}`);
}

/** Refuses a kind of message that the sender may not send, or not to each of these recipients. `to` is resolved. */
export function checkRoute(kind: MailKind, to: readonly string[], policy: MailPolicy, sender: MailMember): void {
  if (!sender.verbs.includes(kind.verb)) {
    const field = kind.taskType !== undefined ? 'body.task_type' : kind.action === null ? 'type' : 'action';
    const rule = `is not allowed for ${sender.address}; its permissions: ${sender.verbs.join(', ') || 'none'}`;
    refuse('not_authorized', field, rule);
  }
  const index = to.findIndex((name) => !mayReach(kind, name, policy, sender));
  if (index === -1) return;
  const may = sender.writesTo.join(', ') || 'no one';
  refuse('not_authorized', `to[${index}]`, `is not allowed: ${sender.address} may write to ${may}`);
}

function mayReach(kind: MailKind, name: string, { members }: MailPolicy, sender: MailMember): boolean {
  const named = (wanted: string): boolean => sender.writesTo.some((entry) => isSameName(entry, wanted));
  if (named(name)) return true;
  const member = members.find(({ address }) => address === name);
  // The engine finds or starts an agent for a role. Only a hand-off asks for that.
  return member === undefined ? kind.toRole === true : named(member.role);
}

/** Roles of members, and roles without a member that the roster lets the sender write to. */
function rolesOf(members: readonly MailMember[], sender: MailMember): readonly string[] {
  const names = members.map(({ address }) => address);
  const open = sender.writesTo.filter((entry) => findName(names, entry) === undefined);
  return [...new Set([...members.map(({ role }) => role), ...open])];
}

function findName(names: readonly string[], wanted: string): string | undefined {
  return names.find((name) => isSameName(name, wanted));
}

function existing(addresses: readonly string[], roles: readonly string[]): string {
  return `must be one of the addresses ${addresses.join(', ')}, or of the roles ${roles.join(', ')}`;
}
