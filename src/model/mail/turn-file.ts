import { z } from 'zod';
import { fingerprintsSchema } from '../redaction/fingerprints-schema.ts';

/** In the folder of a turn until its mail server has read it. */
export const TURN_FILE = 'mail-turn.json';

const mailWordsSchema = z.strictObject({
  /** The server says this of itself. */
  server: z.string(),
  /** Comes with the tool that asks. */
  whenToAsk: z.string(),
  /** Comes with every message that the agent reads. */
  information: z.string(),
});
export type MailWords = z.infer<typeof mailWordsSchema>;

/** Tells the mail server of a turn which turn it serves. */
export const turnFileSchema = z.strictObject({
  /** The folder with the ledger. */
  directory: z.string().min(1),
  /** Hexadecimal; speaks as the turn's agent until the turn is settled. */
  token: z.string().min(1),
  /** Fingerprints of the secrets that the server removes from mail. Not their values, because the file may outlive the turn. */
  secrets: fingerprintsSchema,
  /** Words of the server for the agent: the run's prompts. */
  words: mailWordsSchema,
});
export type TurnFile = z.infer<typeof turnFileSchema>;
