import { z } from 'zod';
import { isSameName } from './address.ts';
import { MAIL_VERBS } from './kind.ts';

/** Who may send what to whom. The run fixes it, the ledger keeps it, and nothing else gives rights in mail. */
export const mailPolicySchema = z.object({
  members: z.array(
    z.object({
      /** Its address in messages. */
      address: z.string(),
      /** Its name in the roster; null: a person. */
      agent: z.string().nullable(),
      role: z.string(),
      verbs: z.array(z.enum(MAIL_VERBS)),
      /** Addresses, and names of roles. */
      writesTo: z.array(z.string()),
    }),
  ),
  /** How long a message may take to arrive, unless it says less (ms). */
  ttlMs: z.number().int().positive(),
  /** Limit on the time of an assignment: a later deadline is moved forward to it. Absent: no limit. */
  assignMs: z.number().int().positive().exactOptional(),
});
export type MailPolicy = z.infer<typeof mailPolicySchema>;

/** The member with this address. Capitals do not matter. */
export function memberAt<M extends { readonly address: string }>(
  { members }: { readonly members: readonly M[] },
  address: string,
): M | undefined {
  return members.find((member) => isSameName(member.address, address));
}
