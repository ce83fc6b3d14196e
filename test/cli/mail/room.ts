import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import { MAIL_VERBS } from '../../../src/model/mail/kind.ts';
import type { MailParty } from '../../../src/substrate/ports/mailbox.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';
import type { EngineRoom } from '../../support/engine.ts';
import { commandRoom } from '../room.ts';
import { newStateOf } from '../../support/state.ts';

/** A person coordinates two members. */
export const POLICY: MailPolicy = {
  members: [
    { address: 'MAIN', agent: null, role: 'main', verbs: [...MAIL_VERBS], writesTo: ['A', 'B'] },
    { address: 'A', agent: 'a', role: 'member', verbs: [...MAIL_VERBS], writesTo: ['MAIN'] },
    { address: 'B', agent: 'b', role: 'member', verbs: ['report', 'ask', 'done', 'fail'], writesTo: ['MAIN'] },
  ],
  ttlMs: 86_400_000,
};

/** The same with an agent as MAIN. */
export const LED: MailPolicy = {
  ...POLICY,
  members: POLICY.members.map((one) => (one.address === 'MAIN' ? { ...one, agent: 'lead' } : one)),
};

export interface MailRoom extends EngineRoom {
  readonly recorded: RecordedRun;
  person(address: string): MailParty;
  /** Its mail, whole, as the store has it. */
  messages(): readonly MailMessage[];
}

/** A repository with a run in its ledger that has a mailbox. Nothing drives it, unless its recorded run is left open. */
export function mailRoom(policy: MailPolicy = POLICY, leaveOpen = false): MailRoom {
  const room = commandRoom();
  const recorded = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
  recorded.clock.time = Date.now();
  recorded.ledger.mail.open(recorded.lease, policy);
  if (!leaveOpen) {
    recorded.ledger.releaseLease(recorded.lease);
    recorded.close();
  }
  return {
    ...room,
    recorded,
    person: (address) => ({ by: 'person', runId: recorded.id, address, name: 'ada' }),
    messages: () => {
      const ledger = room.ledger();
      try {
        return [...ledger.mail.trace({})].flatMap((entry) => (entry.event === 'message' ? [entry.message] : []));
      } finally {
        ledger.close();
      }
    },
  };
}
