import { z } from 'zod';
import { commandSchema, slugSchema, urlSchema, variableSchema } from '../settings-text.ts';
import { RIGHTS } from './verbs.ts';

const rights = z.array(z.enum(RIGHTS)).min(1);

const common = {
  /** The channel's own ids of those who may write, each with rights. All others are not read. */
  senders: z.record(z.string().min(1).max(100), rights).default({}),
  /** For each sender. Above it there is one notice, and no turn. */
  messagesPerHour: z.int().positive().max(1_000).default(30),
  /** Where notices go that belong to no message: the channel's own id of a place. */
  report: z.string().min(1).max(200).optional(),
};

const snowflake = z.string().regex(/^[1-9][0-9]{16,19}$/, 'needs an id of Discord: 17 to 20 digits, in quotes');

const discordSchema = z.strictObject({
  type: z.literal('discord'),
  /** The name of the variable with the bot's token. Its value is never written here. */
  token: variableSchema,
  /** The channels in which a mention of the bot counts. Direct messages and squad's own threads count as well. */
  places: z.array(snowflake).max(50).default([]),
  ...common,
  senders: z.record(snowflake, rights).default({}),
  report: snowflake.optional(),
  /** Another address of the API. */
  api: urlSchema.optional(),
});
export type DiscordSettings = z.infer<typeof discordSchema>;

const webhookSchema = z.strictObject({
  type: z.literal('webhook'),
  /** Where texts are posted, signed. */
  url: urlSchema,
  /** The name of the variable with the secret that signs both ways. */
  secret: variableSchema,
  /** Messages are fetched from this address. */
  poll: urlSchema.optional(),
  /** Or they are posted here, signed: on loopback, unless `host` says otherwise. */
  listen: z
    .strictObject({ port: z.int().min(1).max(65_535), host: z.string().min(1).max(255).default('127.0.0.1') })
    .optional(),
  ...common,
});
export type WebhookSettings = z.infer<typeof webhookSchema>;

const channelSchema = z.discriminatedUnion('type', [discordSchema, webhookSchema], {
  error: 'must be discord or webhook',
});
export type ChannelSettings = z.infer<typeof channelSchema>;

/** The section `channels` of `squad.yaml`, by name. */
export const channelsSchema = z.record(slugSchema, channelSchema).optional();

const actionSchema = z.strictObject({
  /** A command of `sh`. The arguments are `$1`, `$2` and so on, and are never part of the command's text. */
  run: commandSchema,
  /** One line for people. */
  says: z.string().min(1).max(200).optional(),
  /** The most arguments that it takes. */
  args: z.int().min(0).max(20).default(0),
  /** Seconds. */
  wall: z.int().positive().max(7_200).default(600),
});
export type ActionSettings = z.infer<typeof actionSchema>;

/** The section `actions` of `squad.yaml`, by name. */
export const actionsSchema = z.record(slugSchema, actionSchema).optional();

export const CHANNELS_EXAMPLE =
  'channels:\n  team: { type: discord, token: DISCORD_TOKEN, places: ["1298374650123456789"], senders: { "1198374650123456789": [ask, request] } }';
export const ACTIONS_EXAMPLE =
  'actions:\n  deploy: { run: "./deploy.sh \\"$1\\"", args: 1, says: "Deploys to a stage" }';
