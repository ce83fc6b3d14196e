import { refused, type Checked, type MailRefusal } from './refusal.ts';
import type { MailKind } from './kind.ts';
import type { MailPolicy } from './policy.ts';

export type MailMember = MailPolicy['members'][number];

/** Whom a message is for, each in its one spelling; or which of them there is not. */
export function resolveTo(
  to: readonly string[],
  { members }: MailPolicy,
  sender: MailMember,
): Checked<readonly string[]> {
  const addresses = members.map((member) => member.address);
  const roles = rolesOf(members, sender);
  const found: string[] = [];
  for (const [index, wanted] of to.entries()) {
    const field = `to[${index}]`;
    const name = findName(addresses, wanted) ?? findName(roles, wanted);
    if (name === undefined) return refused('invalid_format', field, existing(addresses, roles));
    if (found.includes(name)) return refused('invalid_format', field, 'is named once');
    found.push(name);
  }
  return { ok: true, value: found };
}

export function resolveOwner(owner: string, { members }: MailPolicy): Checked<string> {
  const addresses = members.map((member) => member.address);
  const name = findName(addresses, owner);
  if (name !== undefined) return { ok: true, value: name };
  return refused('invalid_format', 'owner', `is an address of this run: ${addresses.join(', ')}`);
}

/** Whether the sender may say this at all, and to each of these. `to` has been resolved. */
export function routeRefusal(
  kind: MailKind,
  to: readonly string[],
  policy: MailPolicy,
  sender: MailMember,
): MailRefusal | undefined {
  if (!sender.verbs.includes(kind.verb)) {
    const field = kind.verb === 'handoff' ? 'body.task_type' : kind.action === null ? 'type' : 'action';
    return notAuthorized(field, `is not for ${sender.address}, who may use: ${sender.verbs.join(', ') || 'nothing'}`);
  }
  const index = to.findIndex((name) => !mayReach(kind, name, policy, sender));
  if (index === -1) return undefined;
  const may = sender.writesTo.join(', ') || 'nobody';
  return notAuthorized(`to[${index}]`, `is not for ${sender.address} to write to, who may write to: ${may}`);
}

/** Capitals do not matter in addresses and roles. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function mayReach(kind: MailKind, name: string, { members }: MailPolicy, sender: MailMember): boolean {
  const named = (wanted: string): boolean => sender.writesTo.some((entry) => isSameName(entry, wanted));
  if (named(name)) return true;
  const member = members.find(({ address }) => address === name);
  // A role is nobody in particular: the engine finds or starts somebody of it, which is what a hand-off asks for.
  return member === undefined ? kind.verb === 'handoff' : named(member.role);
}

/** Those that somebody has, and those that the roster lets the sender write to without anybody having them yet. */
function rolesOf(members: readonly MailMember[], sender: MailMember): readonly string[] {
  const names = members.map(({ address }) => address);
  const open = sender.writesTo.filter((entry) => findName(names, entry) === undefined);
  return [...new Set([...members.map(({ role }) => role), ...open])];
}

function findName(names: readonly string[], wanted: string): string | undefined {
  return names.find((name) => isSameName(name, wanted));
}

function existing(addresses: readonly string[], roles: readonly string[]): string {
  return `is one of the addresses ${addresses.join(', ')}, or of the roles ${roles.join(', ')}`;
}

function notAuthorized(field: string, rule: string): MailRefusal {
  return { reason: 'not_authorized', field, rule };
}
