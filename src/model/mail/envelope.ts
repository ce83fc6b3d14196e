import { z } from 'zod';
import { MOST_RECIPIENTS } from './times.ts';
import { MAIL_ACTIONS } from './kind.ts';
import { MAIL_TYPES, MAIL_VERSION } from './vocabulary.ts';
import { addressSchema, idSchema } from './wire-text.ts';

const whenSchema = z.int().positive();

const lineSchema = z
  .string()
  .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{1,200}$/, 'needs 1 to 200 characters in one line');

/** Fields that a sender sets, besides the body. */
const saidSchema = z.strictObject({
  to: z
    .array(addressSchema)
    .min(1)
    .max(MOST_RECIPIENTS)
    .readonly()
    .describe('Whom it is for: addresses; of a hand-off also the name of a role. Capitals do not matter.'),
  type: z.enum(MAIL_TYPES).describe('What kind of message it is.'),
  action: z
    .enum(MAIL_ACTIONS)
    .exactOptional()
    .describe('What it is about; which one goes with which type is a table below.'),
  task_id: idSchema
    .exactOptional()
    .describe('The task that it is about. A reply that names none is about that of its ask.'),
  owner: addressSchema.exactOptional().describe('The owner of the task. Default: the sender of the ask.'),
  deadline: whenSchema.exactOptional().describe('Of an assignment only: by when it has to be done (epoch ms).'),
  corr: idSchema.exactOptional().describe('Id of the message that this one answers.'),
  body_encoding: z
    .enum(['json', 'base64'])
    .describe('How the body is written. Absent: json. base64 is for notes (`send` without an action).'),
});

const ttlSchema = z
  .int()
  .positive()
  .describe('How long it may be under way (ms). Absent: what the run allows, which is the most.');

/** A message as a sender writes it. All else the router makes from what it knows of the sender. */
export const draftSchema = z.strictObject({
  v: z.literal(MAIL_VERSION).exactOptional().describe('Version of the protocol. A check: another one is refused.'),
  session: idSchema.exactOptional().describe('A check: any session but the present one is refused.'),
  epoch: z.int().nonnegative().exactOptional().describe('A check: any epoch but the present one is refused.'),
  ...saidSchema.shape,
  ttl_ms: ttlSchema.exactOptional(),
  body_encoding: saidSchema.shape.body_encoding.exactOptional(),
  body: z.string().describe('One line: the text of a JSON object, or base64.'),
});

/** Fields of a message that only the router makes: a draft that has one of them is refused. */
export const ROUTER_FIELDS = ['seq', 'id', 'ts', 'from', 'agent_instance', 'body_ref'] as const;

/** A message as it is kept and as readers get it: the protocol's envelope, version 1. */
export const messageSchema = z
  .strictObject({
    v: z.literal(MAIL_VERSION).describe('Version of the protocol.'),
    session: idSchema.describe('Of the workspace; the same for ever.'),
    epoch: z.int().nonnegative().describe('Counts the starts of an engine in the workspace, from 1.'),
    seq: z.int().positive().describe('Counts the messages of the session, without gaps.'),
    id: idSchema.describe('`<session>-<epoch>-<seq>`'),
    agent_instance: lineSchema.describe('Which turn (`A-01`), pane or person of the sender it was; for people only.'),
    from: addressSchema.describe('Its sender, from the credential.'),
    ...saidSchema.shape,
    ttl_ms: ttlSchema.describe('How long it may be under way (ms).'),
    ts: whenSchema.describe('When the router took it (epoch ms). Never goes back within a session.'),
    body: z
      .string()
      .regex(/^[^\r\n]*$/, 'needs one line')
      .describe('One line; empty where `body_ref` says where it is.'),
    body_ref: z
      .string()
      .min(1)
      .max(300)
      .exactOptional()
      .describe("Path of the body in a file, from squad's folder of the repository; bodies over 4 KiB."),
  })
  .refine(({ session, epoch, seq, id }) => id === `${session}-${epoch}-${seq}`, {
    path: ['id'],
    error: 'is <session>-<epoch>-<seq>',
  });

/** The fields that a sender may write. The router makes all other fields of a message itself. */
export type MailDraft = Readonly<z.infer<typeof draftSchema>>;

/** A message as it is kept and as readers get it. */
export type MailMessage = Readonly<z.infer<typeof messageSchema>>;
