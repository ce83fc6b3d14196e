import { z } from 'zod';
import { fingerprintsSchema } from '../redaction/fingerprints-schema.ts';

/** In the folder of a turn until its mail server has read it. */
export const TURN_FILE = 'mail-turn.json';

/** Tells the mail server of a turn which turn it serves. */
export const turnFileSchema = z.strictObject({
  /** The folder with the ledger. */
  directory: z.string().min(1),
  /** Hexadecimal; speaks as the turn's agent until the turn is settled. */
  token: z.string().min(1),
  /** Fingerprints of the secrets that the server removes from mail. Not their values, because the file may outlive the turn. */
  secrets: fingerprintsSchema,
});
export type TurnFile = z.infer<typeof turnFileSchema>;
