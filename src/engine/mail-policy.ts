import { addressOf, agentAt } from '../model/mail/address.ts';
import type { MailPolicy } from '../model/mail/policy.ts';
import { MAIL_VERBS } from '../model/mail/kind.ts';
import { ownRoutesOf } from '../model/mail/route.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import type { Playbook } from '../model/plan.ts';
import { defined } from '../text/defined.ts';
import type { RunDefinition } from '../model/run.ts';

type Rules = Pick<Playbook<never>, 'tools' | 'routes' | 'longestAssignmentMs'>;

/**
 * Verbs and routes are the playbook's; `mail.routes` replaces its routes. Every member may write to MAIN, and MAIN to every member. If no
 * agent has the role main, a person is MAIN and may use every verb. An agent without verbs has no mailbox.
 */
export function mailPolicyOf(
  { agents, mail, options }: Pick<RunDefinition, 'agents' | 'mail' | 'options'>,
  playbook: Rules,
): MailPolicy {
  const everybody = [...new Set([MAIN, ...agents.flatMap((agent) => [addressOf(agent), agent.role])])];
  const members = agents.flatMap((agent) => {
    const verbs = [...playbook.tools(agent.role)];
    if (verbs.length === 0) return [];
    const address = addressOf(agent);
    const routes = ownRoutesOf(mail.routes, agent) ?? playbook.routes?.(agent.role) ?? [];
    const others = address === MAIN || routes === 'everybody' ? everybody : routes;
    const writesTo = [...new Set([MAIN, ...others])].filter((one) => one !== address);
    return [{ address, agent: agent.name, role: agent.role, verbs, writesTo }];
  });
  const person = { address: MAIN, agent: null, role: 'person', verbs: [...MAIL_VERBS], writesTo: everybody };
  const ttlMs = Math.ceil(mail.ttlMinutes * 60_000);
  const assignMs = playbook.longestAssignmentMs?.(options);
  const all = agentAt(agents, MAIN) === undefined ? [person, ...members] : members;
  return { members: all, ttlMs, ...defined({ assignMs }) };
}
